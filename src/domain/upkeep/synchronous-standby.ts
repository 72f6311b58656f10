import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import { recordAudit } from '../audit/audit.ts';
import { otherDatabase, UNREADABLE } from './other-database.ts';

/*
 * A standby that every commit waits for has forgotten nothing when it takes over. So payments go on after such a failover
 * without an operator, if the service has seen just before that PostgreSQL waits for that server. Between two looks somebody
 * may take a standby out of the list. Nobody may promote that standby then. A dispatcher that was cut off may decide before one
 * that knows more, so the setting is off by default.
 */

/** After a failover that takes longer, an operator decides. */
const FAILOVER_WITHIN_MS = 5 * MINUTE_MS;
/** The database's clock says when a call of a gateway is over, so the two servers' clocks must agree this far. */
const MAX_SKEW_MS = 5 * SECOND_MS;

/** The settings of PostgreSQL that say for whom a commit waits. */
interface CommitSettings {
  names: string;
  /** synchronous_commit of this session, or a weaker one that a role or the database has. */
  commit: string;
}

/** The forms of synchronous_standby_names: a list of names, or a number with a list of names. */
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
  const areAll = new Set(standbys).size === Number(many) && standbys.length === Number(many);
  return areAll && !standbys.some((name) => name === '' || name === '*') ? standbys : null;
}

/** PostgreSQL compares these names without regard to case. */
function nameOf(written: string): string {
  return written.replace(/^"(.*)"$/, '$1').toLowerCase();
}

/** A line for the log about the standbys. */
export interface Finding {
  isBad: boolean;
  line: string;
}

/** A note about the standbys that PostgreSQL has acknowledged. */
interface Note {
  number: number;
  /** When its transaction began, by the clock of this process, in milliseconds. */
  atMs: number;
}

/**
 * Returns a function that notes for which standbys PostgreSQL waits, and that lets payments go on where such a standby has
 * taken over. It knows the newest note that PostgreSQL has acknowledged to it: a server without that has forgotten
 * something. One that has just started knows of none, and leaves the server to others.
 */
export function createStandbyWatch(database: Database): () => Promise<Finding | null> {
  let newest: Note | null = null;
  return async () => {
    const atMs = performance.now();
    if (await otherDatabase(database)) {
      const known = newest;
      const went = await inTransaction(database, (trx) => goOn(trx, known));
      if (went?.number) newest = { number: went.number, atMs };
      return went?.finding ?? null;
    }
    const { settings, number } = await inTransaction(database, note);
    if (number !== null) newest = { number, atMs };
    return standbysOf(settings) ? null : waitsForNone(settings);
  };
}

const waitsForNone = ({ names, commit }: CommitSettings): Finding => ({
  isBad: true,
  line: `PostgreSQL acknowledges commits that a standby may lack (synchronous_standby_names='${names}', synchronous_commit=${commit}): after a failover nothing is sent until restore resume`,
});

/** SQL: notes are numbered, since clocks step back. */
const NEXT_NOTE = 'standbys_at = now(), standbys_note = standbys_note + 1';

/** @returns the note's number; null on a database that is not the one before */
async function note(
  trx: Transaction,
): Promise<{ settings: CommitSettings; number: number | null }> {
  // The lock comes first: the settings that this reads are then newer than the last note.
  await rows(trx, 'SELECT FROM installation FOR UPDATE');
  const settings = await firstRow<CommitSettings>(trx, COMMIT_SETTINGS);
  const noted = await firstRow<{ number: number }>(
    trx,
    `UPDATE installation SET standbys = :standbys, ${NEXT_NOTE}
     WHERE seen_on = database_identity() RETURNING standbys_note AS number`,
    { standbys: standbysOf(settings!) },
  );
  return { settings: settings!, number: noted?.number ?? null };
}

const COMMIT_SETTINGS = `SELECT current_setting('synchronous_standby_names') AS names, coalesce((
  SELECT split_part(setting, '=', 2) FROM pg_db_role_setting, unnest(setconfig) AS setting
  WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND setting LIKE 'synchronous_commit=%' AND split_part(setting, '=', 2) <> ALL (ARRAY['on', 'remote_apply'])
  LIMIT 1), current_setting('synchronous_commit')) AS commit`;

interface Failover {
  seen_on: string;
  now: string;
  standbys: string[] | null;
  number: number;
  /** The age of the note in this database, by the clock of this server. */
  age_ms: number;
  name: string;
}

/** @returns what is to be said, with the number of the note if payments go on; null if there is nothing to do */
async function goOn(
  trx: Transaction,
  newest: Note | null,
): Promise<{ finding: Finding; number?: number } | null> {
  const found = await firstRow<Failover>(
    trx,
    `SELECT seen_on, now, standbys, standbys_note AS number, lower(current_setting('cluster_name')) AS name,
       coalesce(extract(epoch FROM now() - standbys_at) * 1000, 0)::float8 AS age_ms
     FROM installation, database_identity() AS now FOR UPDATE OF installation`,
  );
  const other = await otherDatabase(trx);
  // Another dispatcher was faster, or an operator is about to mark what may be forgotten.
  if (!found || !other || other.is_marked) return null;
  const why = whyNot(found, newest);
  if (why !== null) {
    // A dispatcher that knows less must not decide otherwise. One that has just started knows nothing.
    if (newest !== null) await forgetStandbys(trx);
    const line = `PostgreSQL was restored, has failed over or was moved: ${why}`;
    return { finding: { isBad: true, line } };
  }
  const { name, seen_on: before, now } = found;
  // Its own standbys are not known yet. Gateways go on to call this installation, which is no copy.
  const gone = await firstRow<{ number: number }>(
    trx,
    `UPDATE installation SET seen_on = :now, standbys = NULL, ${NEXT_NOTE} RETURNING standbys_note AS number`,
    { now },
  );
  const reason = `PostgreSQL waited for its standby ${name}, which has taken over`;
  const audit = { merchant_id: null, subject: 'submissions', details: { before, now } };
  await recordAudit(trx, { ...audit, actor: 'dispatcher', action: 'restore.resume', reason });
  const line = `payments go on at ${now}: ${reason}`;
  return { finding: { isBad: false, line }, number: gone!.number };
}

/** Leaves a database that is not the one before to an operator. */
export async function forgetStandbys(executor: Database | Transaction): Promise<void> {
  await rows(executor, 'UPDATE installation SET standbys = NULL');
}

/** Says why a server that has taken over may have forgotten something, or returns null. */
function whyNot(found: Failover, newest: Note | null): string | null {
  const { seen_on, now, standbys, number, age_ms, name } = found;
  if (now.includes(UNREADABLE) || withoutTimeline(seen_on) !== withoutTimeline(now)) {
    return 'it is no standby of the server before';
  }
  if (!standbys?.includes(name)) {
    return `the server before did not wait for '${name}', which is the cluster_name of this one, or a dispatcher has refused it`;
  }
  if (newest === null) return 'this process has not worked with the server before';
  if (number < newest.number) return 'it lacks what the server before has acknowledged';
  const elapsedMs = performance.now() - newest.atMs;
  if (elapsedMs > FAILOVER_WITHIN_MS) return 'it has taken over too late for anybody to be sure';
  return Math.abs(age_ms - elapsedMs) > MAX_SKEW_MS ? 'its clock is another one' : null;
}

function withoutTimeline(identity: string): string {
  return identity.replace(/timeline [^,]+/, '');
}
