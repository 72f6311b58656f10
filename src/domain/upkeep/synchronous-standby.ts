import { randomUUID } from 'node:crypto';
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
 * without an operator, if the service has seen just before that PostgreSQL waits for that server. One dispatcher at a time
 * watches, and it alone decides: no other one can know more. Between two looks somebody may take a standby out of the list.
 * Nobody may promote that standby then.
 */

/** After a failover that takes longer, an operator decides. */
const FAILOVER_WITHIN_MS = 5 * MINUTE_MS;
/** Another dispatcher watches after this time. Then the one before has not been able to decide for a minute, by any clock. */
const WATCH_MS = FAILOVER_WITHIN_MS + MINUTE_MS;
/** The database's clock says when a call of a gateway is over, so the two servers' clocks must agree this far. */
const MAX_SKEW_MS = 5 * SECOND_MS;
/** An answer that takes longer does not tell the time. */
const MAX_CLOCK_ANSWER_MS = SECOND_MS;

/** The settings of PostgreSQL that say for whom a commit waits. */
interface CommitSettings {
  names: string;
  /** synchronous_commit of this session, or a weaker one that a role or the database has. */
  commit: string;
  /** The names that do not tell one standby: the server's own one, and names that several servers have. */
  shared: string[];
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
export function standbysOf({ names, commit, shared }: CommitSettings): string[] | null {
  if (!IS_ON_DISK.includes(commit)) return null;
  const { many = '1' } = NAMES.exec(names)?.groups ?? {};
  const standbys = namedBy(names);
  const areAll = new Set(standbys).size === Number(many) && standbys.length === Number(many);
  const isUnsure = (name: string) => ['', '*', ...shared].includes(name);
  return areAll && !standbys.some(isUnsure) ? standbys : null;
}

/** Returns the standbys that synchronous_standby_names names. */
function namedBy(names: string): string[] {
  const { some, list = some } = NAMES.exec(names)?.groups ?? {};
  return (list ?? '').split(',').map((name) => nameOf(name.trim()));
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

/** The newest note of this process that PostgreSQL has acknowledged to it. */
interface Note {
  number: number;
  /** When its transaction began, by the clock of this process. */
  atMs: number;
}

/**
 * Returns a function that notes for which standbys PostgreSQL waits, and that lets payments go on where such a standby has
 * taken over. A server that lacks the newest note has forgotten something. A process that has just started, or that does
 * not watch, has no note, and leaves the server to others.
 */
export function createStandbyWatch(database: Database): () => Promise<Finding | null> {
  const me = randomUUID();
  let newest: Note | null = null;
  /** The clock of the server that wrote the newest note, minus the clock of this process. */
  let clockMs: number | null = null;
  return async () => {
    const atMs = performance.now();
    const hereMs = await clockOf(database);
    if (await otherDatabase(database)) {
      if (hereMs === null) return null;
      const skewMs = clockMs === null ? Number.POSITIVE_INFINITY : Math.abs(hereMs - clockMs);
      const known = newest && { ...newest, skewMs };
      const went = await inTransaction(database, (trx) => {
        // If no answer comes, payments may go on there. Then nothing is known about a server after that one.
        newest = null;
        return goOn(trx, me, known);
      });
      newest = went?.number ? { number: went.number, atMs } : known;
      if (went?.number) clockMs = hereMs;
      return went?.finding ?? null;
    }
    const { settings, number } = await inTransaction(database, (trx) => note(trx, me));
    newest = number === null ? null : { number, atMs };
    clockMs = hereMs ?? clockMs;
    return number === null || standbysOf(settings) ? null : waitsForNone(settings);
  };
}

/** @returns the clock of PostgreSQL minus the clock of this process; null if the answer came too late to tell */
async function clockOf(database: Database): Promise<number | null> {
  const askedMs = performance.now();
  const found = await firstRow<{ ms: number }>(
    database,
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  const answeredMs = performance.now();
  return answeredMs - askedMs > MAX_CLOCK_ANSWER_MS ? null : found!.ms - answeredMs;
}

function waitsForNone({ names, commit, shared }: CommitSettings): Finding {
  const twins = namedBy(names).filter((name) => name !== '' && shared.includes(name));
  const twin = twins.length > 0 ? `, and another server is '${twins.join("', '")}' too` : '';
  return {
    isBad: true,
    line: `PostgreSQL acknowledges commits that a standby may lack (synchronous_standby_names='${names}', synchronous_commit=${commit}${twin}): after a failover nothing is sent until restore resume`,
  };
}

/** SQL: notes are numbered, since clocks step back. */
const NEXT_NOTE = 'noted_at = clock_timestamp(), noted_by = :me, number = number + 1';

/** @returns the note's number; null if another dispatcher watches, or on a database that is not the one before */
async function note(
  trx: Transaction,
  me: string,
): Promise<{ settings: CommitSettings; number: number | null }> {
  const settings = await firstRow<CommitSettings>(trx, COMMIT_SETTINGS);
  const noted = await firstRow<{ number: number }>(
    trx,
    `UPDATE standby_watch SET standbys = :standbys, ${NEXT_NOTE}
     WHERE (noted_by IS NULL OR noted_by = :me OR noted_at < clock_timestamp() - :watch * INTERVAL '1 ms')
       AND EXISTS (SELECT FROM installation WHERE seen_on = database_identity())
     RETURNING number`,
    { standbys: standbysOf(settings!), me, watch: WATCH_MS },
  );
  return { settings: settings!, number: noted?.number ?? null };
}

/** A role that may not see the names of standbys sees none twice. */
const COMMIT_SETTINGS = `SELECT current_setting('synchronous_standby_names') AS names, coalesce((
  SELECT split_part(setting, '=', 2) FROM pg_db_role_setting, unnest(setconfig) AS setting
  WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND setting LIKE 'synchronous_commit=%' AND split_part(setting, '=', 2) <> ALL (ARRAY['on', 'remote_apply'])
  LIMIT 1), current_setting('synchronous_commit')) AS commit, ARRAY(
  SELECT lower(current_setting('cluster_name'))
  UNION SELECT lower(application_name) FROM pg_stat_replication GROUP BY 1 HAVING count(*) > 1 AND lower(application_name) <> '') AS shared`;

interface Failover {
  seen_on: string;
  now: string;
  standbys: string[] | null;
  number: number;
  noted_by: string | null;
  name: string;
}

/** @returns what is to be said, with the number of the note if payments go on; null if there is nothing to do */
async function goOn(
  trx: Transaction,
  me: string,
  newest: (Note & { skewMs: number }) | null,
): Promise<{ finding: Finding; number?: number } | null> {
  const found = await firstRow<Failover>(
    trx,
    `SELECT seen_on, now, standbys, number, noted_by, lower(current_setting('cluster_name')) AS name
     FROM installation, standby_watch, database_identity() AS now FOR UPDATE OF installation, standby_watch`,
  );
  const other = await otherDatabase(trx);
  // Another dispatcher was faster, or an operator is about to mark what may be forgotten.
  if (!found || !other || other.is_marked) return null;
  const isWatching = found.noted_by === me;
  const why = whyNot(found, isWatching ? newest : null);
  if (why !== null) {
    const line = `PostgreSQL was restored, has failed over or was moved: ${why}`;
    return { finding: { isBad: true, line } };
  }
  const { name, seen_on: before, now } = found;
  // Gateways go on to call this installation, which is no copy.
  await rows(trx, 'UPDATE installation SET seen_on = :now', { now });
  // Its own standbys are not known yet.
  const gone = await firstRow<{ number: number }>(
    trx,
    `UPDATE standby_watch SET standbys = NULL, ${NEXT_NOTE} RETURNING number`,
    { me },
  );
  const reason = `PostgreSQL waited for its standby ${name}, which has taken over`;
  const audit = { merchant_id: null, subject: 'submissions', details: { before, now } };
  await recordAudit(trx, { ...audit, actor: 'dispatcher', action: 'restore.resume', reason });
  const line = `payments go on at ${now}: ${reason}`;
  return { finding: { isBad: false, line }, number: gone!.number };
}

/** Leaves a database that is not the one before to an operator. */
export async function forgetStandbys(executor: Database | Transaction): Promise<void> {
  await rows(executor, 'UPDATE standby_watch SET standbys = NULL');
}

/** Says why a server that has taken over may have forgotten something, or returns null. */
function whyNot(found: Failover, newest: (Note & { skewMs: number }) | null): string | null {
  const { seen_on, now, standbys, number, name } = found;
  if (now.includes(UNREADABLE) || withoutTimeline(seen_on) !== withoutTimeline(now)) {
    return 'it is no standby of the server before';
  }
  if (newest === null) return 'this process has not watched the server before';
  if (number < newest.number) return 'it lacks what the server before has acknowledged';
  if (!standbys?.includes(name)) {
    return `the server before did not wait for '${name}', which is the cluster_name of this one`;
  }
  if (performance.now() - newest.atMs > FAILOVER_WITHIN_MS) {
    return 'it has taken over too late for anybody to be sure';
  }
  return newest.skewMs > MAX_SKEW_MS ? 'its clock is another one' : null;
}

function withoutTimeline(identity: string): string {
  return identity.replace(/timeline [^,]+/, '');
}
