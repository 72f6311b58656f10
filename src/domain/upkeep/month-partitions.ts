import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { Period } from './retention-rules.ts';

/** Short, so that payments do not wait behind a long report. The next run tries again. */
const LOCK_TIMEOUT_MS = 500;

const LOCK_NOT_AVAILABLE = '55P03';
const UNDEFINED_TABLE = '42P01';

/** Lists the month partitions of a table that ended longer ago than the period, oldest first. */
export async function oldMonths(
  database: Database,
  table: string,
  period: Period,
): Promise<string[]> {
  const found = await rows<{ name: string }>(
    database,
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = CAST(:table AS regclass) AND c.relname ~ ('^' || :table || '_[0-9]{4}_[0-9]{2}$')
       AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month'
         <= (now() AT TIME ZONE 'UTC') - CAST(:period AS interval)
     ORDER BY c.relname`,
    { table, period },
  );
  return found.map(({ name }) => name);
}

/**
 * Detaches a month partition. A table with a default partition does not allow CONCURRENTLY, so
 * this waits for its lock only a moment. A function of the database does it, because the service
 * may not alter tables; it refuses a month whose period is not over.
 * @param record is called in the transaction that detaches it.
 * @returns `busy` when the lock was not free, and `gone` when another run was faster.
 */
export async function detachMonth(
  database: Database,
  table: string,
  month: string,
  record: (trx: Transaction) => Promise<void>,
): Promise<'detached' | 'busy' | 'gone'> {
  try {
    await inTransaction(database, async (trx) => {
      await rows(trx, `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await rows(trx, 'SELECT detach_month(:table, :month)', { table, month });
      await record(trx);
    });
    return 'detached';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === LOCK_NOT_AVAILABLE) return 'busy';
    if (code === UNDEFINED_TABLE) return 'gone';
    throw error;
  }
}
