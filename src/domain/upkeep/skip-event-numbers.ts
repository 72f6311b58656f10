import { rows, type Transaction } from '../../connections/database.ts';

/** More than a merchant can have been told of between a backup and its restore. */
export const SKIPPED_EVENT_NUMBERS = 1_000_000;

/**
 * Lets every merchant's event numbers go on well above those that may have been given since
 * the backup: a merchant that ignores what is not above the last number would miss events.
 * That includes merchants without any number yet, whose first may have been given since.
 * Merchants that are newer than the backup are not there any more, and come again under ids
 * that none of them had (skip-directory-numbers.ts).
 * @returns of how many merchants.
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
