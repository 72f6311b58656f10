import { rows, type Transaction } from '../../connections/database.ts';

/** More merchants or apps than can be created between a backup and its restore. */
export const SKIPPED_DIRECTORY_NUMBERS = 1_000;

/**
 * Moves the next ids of merchants and apps far above those that may have been given out since the
 * backup. Otherwise an id that somebody knows could later belong to another merchant.
 */
export async function skipDirectoryNumbers(trx: Transaction): Promise<void> {
  for (const [table, column] of [
    ['merchants', 'id'],
    ['apps', 'code'],
  ]) {
    await rows(
      trx,
      `SELECT setval(sequence, nextval(sequence) + :skipped)
       FROM CAST(pg_get_serial_sequence(:table, :column) AS regclass) AS sequence`,
      { table, column, skipped: SKIPPED_DIRECTORY_NUMBERS },
    );
  }
}

/** More events than a merchant can have received between a backup and its restore. */
export const SKIPPED_EVENT_NUMBERS = 1_000_000;

/**
 * Moves every merchant's event numbers far above those that may have been given out since the
 * backup. Otherwise a merchant that ignores numbers below its last one would miss events. This
 * includes merchants without a number, because they may have got their first one since. Merchants
 * that are newer than the backup are gone, and `skipDirectoryNumbers` keeps their ids unused.
 * @returns the number of merchants.
 */
export async function skipEventNumbers(trx: Transaction): Promise<number> {
  const skipped = await rows(
    trx,
    `INSERT INTO event_sequences AS s (merchant_id, last_sequence)
     SELECT id, :skipped FROM merchants ORDER BY id
     ON CONFLICT (merchant_id) DO UPDATE SET last_sequence = s.last_sequence + excluded.last_sequence
     RETURNING merchant_id`,
    { skipped: SKIPPED_EVENT_NUMBERS },
  );
  return skipped.length;
}
