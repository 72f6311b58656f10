import { inTransaction, rows } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import type { Service } from '../process/boot.ts';

export const PARTITIONS_INTERVAL_MS = 600_000;
const MONTHS_AHEAD = 3;
/** A later round tries again: other work on the table must not wait for this lock. */
const LOCK_TIMEOUT_MS = 500;
/** Tables with a partition for each month, and the column that decides on the month. */
const PARTITIONED_TABLES = { payment_history: 'happened_at', webhook_attempts: 'attempted_at' };

/** Creates the partitions of the months to come. Logs a table that is in use. */
export async function createPartitions({ database, logger }: Service): Promise<void> {
  for (const [table, column] of Object.entries(PARTITIONED_TABLES)) {
    await inTransaction(database, async (trx) => {
      await rows(trx, `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const bindings = { table, column, months: MONTHS_AHEAD };
      await rows(trx, 'SELECT make_month_partitions(:table, :column, :months)', bindings);
    }).catch((error) => {
      logger.warn('partitions not made, will be tried again', { table, error: messageOf(error) });
    });
  }
}
