import { type Database, firstRow } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { PAYMENT_KINDS } from './payment-summary.ts';

/** Counts the payments of an account that have not ended. */
export async function countOpen(database: Database, gateway: string): Promise<number> {
  const counts = PAYMENT_KINDS.map(
    (kind) =>
      `(SELECT count(*) FROM ${STEP_TABLES[kind].table}
        WHERE status IN ('pending', 'processing') AND gateway = :gateway)`,
  );
  const row = await firstRow<{ count: number }>(database, `SELECT ${counts.join(' + ')} AS count`, {
    gateway,
  });
  return row!.count;
}
