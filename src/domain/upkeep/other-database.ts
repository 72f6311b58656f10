import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';

/** A database that is not the one that the service was last told to work on. */
interface OtherDatabase {
  before: string;
  now: string;
  /** `restore mark` has marked it. */
  is_marked: boolean;
}

/** Stands for a part that the role may not read. It counts as the same as any other. */
export const UNREADABLE = 'unknown';

/** Returns the SQL condition that identity `one` is `other`, as far as `other` is known. */
function isLike(one: string, other: string): string {
  return `${one} LIKE replace(${other}, '${UNREADABLE}', '%')`;
}

const SEEN_AND_NOW = 'installation, database_identity() AS now';
const DIFFERS = `NOT (${isLike('now', 'seen_on')} OR ${isLike('seen_on', 'now')})`;

const IS_MARKED = `coalesce(${isLike('marked_on', 'now')}, false)`;

/** SQL: true on a database that is not the one before. */
export const IS_OTHER_DATABASE = `EXISTS (SELECT FROM ${SEEN_AND_NOW} WHERE ${DIFFERS})`;

/** SQL: true on a database that is not the one before, and that nobody has marked or resumed. */
export const IS_UNMARKED_DATABASE = `EXISTS (
  SELECT FROM ${SEEN_AND_NOW} WHERE ${DIFFERS} AND NOT ${IS_MARKED})`;

/**
 * Tells whether PostgreSQL was restored, has failed over or was moved. It may have forgotten what
 * was sent, so nothing is sent until an operator resumes. Every process sees the same.
 * @returns null when it is the database before, or when nobody can tell.
 */
export async function otherDatabase(
  database: Database | Transaction,
): Promise<OtherDatabase | null> {
  const other = await firstRow<OtherDatabase>(
    database,
    `SELECT seen_on AS before, now, ${IS_MARKED} AS is_marked
     FROM ${SEEN_AND_NOW} WHERE ${DIFFERS}`,
  );
  return other ?? null;
}

/**
 * Records the database when the first process starts on it. Later ones only compare.
 * @returns a line for the log, or null when this is the database before.
 */
export async function noteDatabase(database: Database | Transaction): Promise<string | null> {
  const noted = await firstRow<{ seen_on: string }>(
    database,
    `UPDATE installation SET seen_on = now FROM database_identity() AS now
     WHERE seen_on IS NULL OR ${isLike('now', 'seen_on')} RETURNING seen_on`,
  );
  const other = await otherDatabase(database);
  if (other) return `${whyPaused(other)}; docs/operations.md says how it ends`;
  if (!noted?.seen_on?.includes(UNREADABLE)) return null;
  return 'PostgreSQL does not tell which server or timeline this is: after a restore or a failover set SUBMISSION_PAUSED yourself';
}

/** Says what has changed, and what that means. */
export function whyPaused({ before, now }: OtherDatabase): string {
  return `Nothing is sent, because PostgreSQL was restored, has failed over or was moved: it was ${before}, now it is ${now}`;
}

/** Records that all open payments of this database are marked. */
export async function noteMarked(trx: Transaction): Promise<void> {
  await rows(trx, 'UPDATE installation SET marked_on = database_identity()');
}

/**
 * Makes this database the right one.
 * @param isNothingLost tells that it has forgotten nothing, so that it need not be marked.
 * @returns what it was taken for, or null if it was right.
 * @throws OperatorRefusal when it may have forgotten what was sent.
 */
export async function resumeHere(
  trx: Transaction,
  isNothingLost: boolean,
): Promise<OtherDatabase | null> {
  // A dispatcher may be letting payments go on.
  await rows(trx, 'SELECT FROM installation FOR UPDATE');
  const other = await otherDatabase(trx);
  if (!other) return null;
  if (!other.is_marked && !isNothingLost) {
    throw new OperatorRefusal(
      'restore mark has not marked the open payments of this database, so what it has forgotten would be sent again: run restore mark first, or give --nothing-lost if it has lost nothing',
    );
  }
  // A copy of a database must not call back the original. A web process records its own address soon.
  const here = 'UPDATE installation SET seen_on = :now, gateway_callback_url = NULL';
  await rows(trx, here, { now: other.now });
  await forgetStandbys(trx);
  return other;
}

/** Leaves a server that is not the one before to an operator: what a dispatcher knows decides nothing any more. */
export async function forgetStandbys(executor: Database | Transaction): Promise<void> {
  const forget = 'UPDATE standby_watch SET standbys = NULL, noted_by = NULL, number = number + 1';
  await rows(executor, forget);
}
