import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, firstRow } from '../../connections/database.ts';
import { isOutage } from '../../connections/database-errors.ts';
import type { Reversal } from '../payments/kinds.ts';
import { paymentColumns } from '../payments/payment-summary.ts';

/** A reversal by the name that its merchant gave it. */
export type ReversalName = Pick<Reversal, 'merchant_id' | 'ref_no'>;

/** The pauses before each look at the row. The last one repeats. */
const LOOK_AFTER_MS = [50, 50, 100, 100, 200, 300, 500];

/**
 * Waits until a committed reversal was sent: acknowledged or ended, or not to be sent yet
 * because the collection's receipt is missing. Holds no connection between two looks.
 * @returns null when that did not come within `waitMs`, or `signal` says that the caller has
 * gone. The submission goes on.
 */
export async function awaitAcceptance(
  database: Database,
  name: ReversalName,
  waitMs: number,
  signal: AbortSignal,
): Promise<Reversal | null> {
  const endsAt = performance.now() + waitMs;
  for (let look = 0; !signal.aborted; look += 1) {
    const reversal = await findReversal(database, name).catch((error) => {
      // The reversal is recorded, so a short outage of the database is no refusal of it.
      if (isOutage(error)) return undefined;
      throw error;
    });
    if (reversal && isAnswerable(reversal)) return reversal;
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) return null;
    const pauseMs = LOOK_AFTER_MS[Math.min(look, LOOK_AFTER_MS.length - 1)]!;
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => {});
  }
  return null;
}

function isAnswerable({ status, original_trans_id }: Reversal): boolean {
  return status !== 'pending' || original_trans_id === null;
}

/** Finds a merchant's reversal by its reference. */
export async function findReversal(
  database: Database,
  name: ReversalName,
): Promise<Reversal | undefined> {
  return firstRow<Reversal>(
    database,
    `SELECT ${paymentColumns('reversal', 'reversals')} FROM reversals
     WHERE merchant_id = :merchant_id AND ref_no = :ref_no`,
    name,
  );
}
