import { type Database, inTransaction, isOutage, rows, type Transaction } from '../../database.ts';
import type { Period } from './periods.ts';

/** There is a day to try again; payments must not wait behind a long report meanwhile. */
const LOCK_TIMEOUT_MS = 500;

/** The months of a partitioned table that have been over for the period, oldest first. */
export async function oldMonths(
  database: Database,
  table: string,
  { count, unit }: Period,
): Promise<string[]> {
  const found = await rows<{ name: string }>(
    database,
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = CAST(:table AS regclass) AND c.relname ~ ('^' || :table || '_[0-9]{4}_[0-9]{2}$')
       AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month'
         <= (now() AT TIME ZONE 'UTC') - CAST(:period AS interval)
     ORDER BY c.relname`,
    { table, period: `${count} ${unit}` },
  );
  return found.map(({ name }) => name);
}

/**
 * Detaches them, one transaction each. Not CONCURRENTLY, which a table with a default
 * partition does not allow: so it waits for its lock only a moment, and the rest comes with
 * the next run.
 * @param record is called in the transaction of each.
 * @returns the months that were detached.
 */
export async function detachOldMonths(
  database: Database,
  table: string,
  period: Period,
  record: (trx: Transaction, month: string) => Promise<void>,
): Promise<string[]> {
  const detached: string[] = [];
  for (const month of await oldMonths(database, table, period)) {
    try {
      await inTransaction(database, async (trx) => {
        await rows(trx, `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await rows(trx, `ALTER TABLE ${table} DETACH PARTITION ${month}`);
        await record(trx, month);
      });
      detached.push(month);
    } catch (error) {
      // Locked, or another run was faster.
      if (!isOutage(error) && !isGone(error)) throw error;
    }
  }
  return detached;
}

const UNDEFINED_TABLE = '42P01';

function isGone(error: unknown): boolean {
  return (error as { code?: string }).code === UNDEFINED_TABLE;
}
