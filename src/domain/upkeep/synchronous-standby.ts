import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { recordAudit } from '../audit/audit.ts';
import { otherDatabase, UNREADABLE } from './other-database.ts';

/*
 * A standby that every commit waits for has forgotten nothing when it takes over. So payments go on after such a failover
 * without an operator, if the service has seen just before that PostgreSQL waits for that server.
 */

/** After a failover that takes longer, an operator decides. */
const FAILOVER_WITHIN = "interval '5 minutes'";

/** The settings of PostgreSQL that say for whom a commit waits. */
interface CommitSettings {
  names: string;
  commit: string;
}

/** How synchronous_standby_names is written: a list, or how many of a list. */
const NAMES =
  /^\s*(?:(?:(?:first|any)\s+)?(?<many>\d+)\s*\((?<some>[^()]*)\)|(?<list>[^()]*))\s*$/i;
/** From this on, a commit is on the standby's disk before it is acknowledged. */
const IS_ON_DISK = ['on', 'remote_apply'];

/**
 * Returns the standbys that have every commit before it is acknowledged; null if none is sure to have it. Where a commit
 * waits for some of several standbys, nobody knows which ones have it.
 */
export function standbysOf({ names, commit }: CommitSettings): string[] | null {
  if (!IS_ON_DISK.includes(commit)) return null;
  const { many = '1', some, list = some } = NAMES.exec(names)?.groups ?? {};
  const standbys = (list ?? '').split(',').map((name) => nameOf(name.trim()));
  const areAll = standbys.length === Number(many);
  return areAll && !standbys.some((name) => name === '' || name === '*') ? standbys : null;
}

/** PostgreSQL compares these names without regard to case. */
function nameOf(written: string): string {
  return written.replace(/^"(.*)"$/, '$1').toLowerCase();
}

/** What a look at the standbys has found out, as a line for the log. */
export interface Finding {
  isBad: boolean;
  line: string;
}

/**
 * Returns a function that notes for which standbys PostgreSQL waits, and that lets payments go on where such a standby has
 * taken over. It knows the newest note that PostgreSQL has acknowledged to it: a server without that has forgotten
 * something. One that has just started knows of none, and leaves the server to others.
 */
export function createStandbyWatch(database: Database): () => Promise<Finding | null> {
  let newest: Date | null = null;
  return async () => {
    if (await otherDatabase(database)) {
      return inTransaction(database, (trx) => goOn(trx, newest));
    }
    const { settings, noted_at } = await note(database);
    newest = noted_at ?? newest;
    return standbysOf(settings) ? null : waitsForNone(settings);
  };
}

const waitsForNone = ({ names, commit }: CommitSettings): Finding => ({
  isBad: true,
  line: `PostgreSQL acknowledges commits that a standby may lack (synchronous_standby_names='${names}', synchronous_commit=${commit}): after a failover nothing is sent until restore resume`,
});

async function note(
  database: Database,
): Promise<{ settings: CommitSettings; noted_at: Date | null }> {
  return inTransaction(database, async (trx) => {
    const settings = await firstRow<CommitSettings>(
      trx,
      `SELECT current_setting('synchronous_standby_names') AS names,
         current_setting('synchronous_commit') AS commit`,
    );
    const noted = await firstRow<{ noted_at: Date }>(
      trx,
      `UPDATE installation SET standbys = :standbys, standbys_at = now()
       WHERE seen_on = database_identity() RETURNING standbys_at AS noted_at`,
      { standbys: standbysOf(settings!) },
    );
    return { settings: settings!, noted_at: noted?.noted_at ?? null };
  });
}

interface Failover {
  seen_on: string;
  now: string;
  standbys: string[] | null;
  noted_at: Date | null;
  is_soon: boolean;
  name: string;
}

async function goOn(trx: Transaction, newest: Date | null): Promise<Finding | null> {
  const found = await firstRow<Failover>(
    trx,
    `SELECT seen_on, now, standbys, standbys_at AS noted_at, lower(current_setting('cluster_name')) AS name,
       -- The clock of the server before may be another one.
       coalesce(now() BETWEEN standbys_at - ${FAILOVER_WITHIN} AND standbys_at + ${FAILOVER_WITHIN}, false) AS is_soon
     FROM installation, database_identity() AS now FOR UPDATE OF installation`,
  );
  const other = await otherDatabase(trx);
  // Another dispatcher was faster, or an operator is about to mark what may be forgotten.
  if (!found || !other || other.is_marked) return null;
  const why = whyNot(found, newest);
  if (why !== null) {
    return { isBad: true, line: `PostgreSQL was restored, has failed over or was moved: ${why}` };
  }
  const { name, seen_on: before, now } = found;
  // Another installation's copy never comes here, so gateways go on to call this one.
  await hasRow(trx, 'UPDATE installation SET seen_on = :now RETURNING id', { now });
  const reason = `PostgreSQL waited for its standby ${name}, which has taken over`;
  const audit = { merchant_id: null, subject: 'submissions', details: { before, now } };
  await recordAudit(trx, { ...audit, actor: 'dispatcher', action: 'restore.resume', reason });
  return { isBad: false, line: `payments go on at ${now}: ${reason}` };
}

/** Says why a server that has taken over may have forgotten something, or returns null. */
function whyNot(found: Failover, newest: Date | null): string | null {
  const { seen_on, now, standbys, noted_at, is_soon, name } = found;
  if (now.includes(UNREADABLE) || withoutTimeline(seen_on) !== withoutTimeline(now)) {
    return 'it is no standby of the server before';
  }
  if (!standbys?.includes(name)) {
    return `the server before did not wait for '${name}', which is the cluster_name of this one`;
  }
  if (newest === null) return 'this process has not worked with the server before';
  if (noted_at === null || noted_at < newest) {
    return 'it lacks what the server before has acknowledged';
  }
  return is_soon
    ? null
    : 'it has taken over too late, or its clock is another one, so nobody can be sure';
}

function withoutTimeline(identity: string): string {
  return identity.replace(/timeline [^,]+/, '');
}
