import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';

/** What watches must not become what weighs: a database that is slow is not read from. */
const STATEMENT_TIMEOUT_MS = 2_000;

/**
 * So many rows are counted and no more, in the order of an index: a gauge that stands at
 * this limit says "at least so many", and reading it stays cheap however bad things are.
 */
export const COUNT_LIMIT = 100_000;

/** Reads at one moment, on one connection. */
export function reading<Result>(
  database: Database,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (trx) => {
    await rows(trx, `SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    return work(trx);
  });
}

/** SQL: how many seconds ago a time was; 0 when there is none. */
export function secondsSince(time: string): string {
  return `CAST(greatest(0, coalesce(extract(epoch FROM now() - ${time}), 0)) AS float8)`;
}
