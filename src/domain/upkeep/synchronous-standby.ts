import { randomUUID } from 'node:crypto';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import { recordAudit } from '../audit/audit.ts';
import { readCommitSettings, standbysOf, whyUnsure } from './commit-settings.ts';
import { otherDatabase, UNREADABLE } from './other-database.ts';

/*
 * A standby that every commit waits for has forgotten nothing when it takes over. So payments go on after such a failover
 * without an operator, if the service has seen just before that PostgreSQL waits for that server. One dispatcher at a time
 * watches, and it alone decides: no other one can know more. Between two looks somebody may take a standby out of the list.
 * Nobody may promote that standby then.
 */

/** After a failover that takes longer, an operator decides. */
const FAILOVER_WITHIN_MS = 5 * MINUTE_MS;
/** Another dispatcher watches after this time. Then the one before has not been able to decide for a minute. */
const WATCH_MS = FAILOVER_WITHIN_MS + MINUTE_MS;
/** The database's clock says when a call of a gateway is over, so the two servers' clocks must agree this far. */
const MAX_SKEW_MS = 5 * SECOND_MS;
/** An answer that takes longer does not tell the time. */
const MAX_CLOCK_ANSWER_MS = SECOND_MS;

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
  /** The clock of the server, minus the clock of this process. */
  clockMs: number | null;
}

/** What a process knows of the server that it works with. */
interface Watch {
  me: string;
  newest: Note | null;
  /** The start of a server that it has refused: an operator may have let payments go on there. */
  refused: string | null;
}

/**
 * Notes for which standbys PostgreSQL waits, and lets payments go on where such a standby has taken over. A server that
 * lacks the newest note has forgotten something. A process that has just started, or that does not watch, has no note, and
 * leaves the server to others.
 */
export function createStandbyWatch(database: Database) {
  const watch: Watch = { me: randomUUID(), newest: null, refused: null };
  return {
    /** @returns what is to be said */
    look: async (): Promise<Finding | null> =>
      (await otherDatabase(database)) ? decide(database, watch) : noteStandbys(database, watch),
    /** Leaves the watch to another dispatcher. */
    release: async (): Promise<void> => {
      watch.newest = null;
      const mine = 'UPDATE standby_watch SET standbys = NULL, noted_by = NULL WHERE noted_by = :me';
      await rows(database, mine, { me: watch.me });
    },
  };
}

async function decide(database: Database, watch: Watch): Promise<Finding | null> {
  const atMs = performance.now();
  const known = watch.newest;
  const went = await inTransaction(database, (trx) => {
    // If no answer comes, payments may go on there. Then nothing is known about a server after that one.
    watch.newest = null;
    return goOn(trx, { ...watch, newest: known });
  });
  // Where somebody else has decided, payments may go on as well.
  if (went) watch.newest = went.note ? { ...went.note, atMs } : known;
  if (went && !went.note) watch.refused ??= went.started;
  return went?.finding ?? null;
}

/** @returns the clock of PostgreSQL minus the clock of this process; null if the answer came too late to tell */
async function clockOf(trx: Transaction): Promise<number | null> {
  const askedMs = performance.now();
  const found = await firstRow<{ ms: number }>(
    trx,
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  const answeredMs = performance.now();
  return answeredMs - askedMs > MAX_CLOCK_ANSWER_MS ? null : found!.ms - answeredMs;
}

/** SQL: notes are numbered, since clocks step back. */
const NEXT_NOTE = 'noted_at = clock_timestamp(), noted_by = :me, number = number + 1';

async function noteStandbys(database: Database, watch: Watch): Promise<Finding | null> {
  const atMs = performance.now();
  const { settings, clockMs, number, isOthers } = await inTransaction(database, (trx) =>
    note(trx, watch),
  );
  // On a server that is not the one before, the next look decides.
  if (number === null && !isOthers) return null;
  watch.newest =
    number === null ? null : { number, atMs, clockMs: clockMs ?? watch.newest?.clockMs ?? null };
  watch.refused = null;
  if (isOthers) return { isBad: false, line: 'another dispatcher watches the standbys' };
  const line = `${whyUnsure(settings)}: after a failover nothing is sent until restore resume`;
  return standbysOf(settings) ? null : { isBad: true, line };
}

/** @returns the note's number; null if another dispatcher watches, or on a database that is not the one before */
async function note(trx: Transaction, { me }: Watch) {
  const settings = await readCommitSettings(trx);
  const clockMs = await clockOf(trx);
  const noted = await firstRow<{ number: number }>(
    trx,
    `UPDATE standby_watch SET standbys = :standbys, ${NEXT_NOTE}
     WHERE (noted_by IS NULL OR noted_by = :me OR noted_at < clock_timestamp() - :watch * INTERVAL '1 ms')
       AND EXISTS (SELECT FROM installation WHERE seen_on = database_identity())
     RETURNING number`,
    { standbys: standbysOf(settings), me, watch: WATCH_MS },
  );
  const isOthers = noted
    ? false
    : await hasRow(trx, 'SELECT 1 FROM standby_watch WHERE noted_by <> :me', { me });
  return { settings, clockMs, number: noted?.number ?? null, isOthers };
}

interface Failover {
  seen_on: string;
  now: string;
  standbys: string[] | null;
  number: number;
  noted_by: string | null;
  name: string;
  started: string;
}

/** @returns what is to be said, with the note if payments go on; null if somebody else has decided, or is about to */
async function goOn(
  trx: Transaction,
  watch: Watch,
): Promise<{ finding: Finding; started: string; note?: Omit<Note, 'atMs'> } | null> {
  const { me } = watch;
  const found = await firstRow<Failover>(
    trx,
    `SELECT seen_on, now, standbys, number, noted_by, lower(current_setting('cluster_name')) AS name,
       CAST(pg_postmaster_start_time() AS text) AS started
     FROM installation, standby_watch, database_identity() AS now FOR UPDATE OF installation, standby_watch`,
  );
  const other = await otherDatabase(trx);
  // An operator may have begun to mark what may be forgotten.
  if (!other || other.is_marked) return null;
  const clockMs = await clockOf(trx);
  const why = whyNot(found!, watch, clockMs);
  if (why !== null) {
    const line = `PostgreSQL was restored, has failed over or was moved: ${why}`;
    return { finding: { isBad: true, line }, started: found!.started };
  }
  const { name, seen_on: before, now, started } = found!;
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
  return { finding: { isBad: false, line }, started, note: { number: gone!.number, clockMs } };
}

/** Says why a server that has taken over may have forgotten something, or returns null. */
function whyNot(found: Failover, watch: Watch, clockMs: number | null): string | null {
  const { seen_on, now, standbys, number, noted_by, name, started } = found;
  const { me, newest, refused } = watch;
  if (now.includes(UNREADABLE) || withoutTimeline(seen_on) !== withoutTimeline(now)) {
    return 'it is no standby of the server before';
  }
  if (newest === null || noted_by !== me) return 'this process knows nothing of the server before';
  if (refused !== null && refused !== started) return 'another server was here before it';
  if (number < newest.number) return 'it lacks what the server before has acknowledged';
  if (!standbys?.includes(name)) {
    return `the server before did not wait for '${name}', which is the cluster_name of this one`;
  }
  if (performance.now() - newest.atMs > FAILOVER_WITHIN_MS) {
    return 'it has taken over too late for anybody to be sure';
  }
  const skewMs = clockMs === null || newest.clockMs === null ? null : clockMs - newest.clockMs;
  if (skewMs === null) return 'its clock is not known yet';
  return Math.abs(skewMs) > MAX_SKEW_MS ? 'its clock is another one' : null;
}

function withoutTimeline(identity: string): string {
  return identity.replace(/timeline [^,]+/, '');
}
