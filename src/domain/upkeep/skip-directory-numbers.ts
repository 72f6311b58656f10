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
