import { rows, type Transaction } from '../../database.ts';

/** More than a merchant can have been told of between a backup and its restore. */
export const SKIPPED_EVENT_NUMBERS = 1_000_000;

/**
 * Lets every merchant's event numbers go on well above those that may have been given since
 * the backup: a merchant that ignores what is not above the last number would miss events.
 * @returns of how many merchants.
 */
export async function skipEventNumbers(trx: Transaction): Promise<number> {
  const skipped = await rows(
    trx,
    `UPDATE event_sequences SET last_sequence = last_sequence + :skipped RETURNING merchant_id`,
    { skipped: SKIPPED_EVENT_NUMBERS },
  );
  return skipped.length;
}
