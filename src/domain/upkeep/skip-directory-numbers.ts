import { rows, type Transaction } from '../../connections/database.ts';

/** More merchants, or apps, than are made between a backup and its restore. */
export const SKIPPED_DIRECTORY_NUMBERS = 1_000;

/**
 * Lets the numbers of merchants and apps go on well above those that may have been given since
 * the backup: whoever was told of one must not find somebody else's wallet behind it.
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
