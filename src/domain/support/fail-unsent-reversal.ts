import { firstRow, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { failUnsent } from '../settlement/fail-unsent.ts';
import { failedHere } from './resolution.ts';

/**
 * Fails a reversal of a collection that waits and was never sent: what it would give back, or to whom, is not so any
 * more. Its merchant may ask for another one.
 * @param why is what the merchant is told
 */
export async function failUnsentReversal(
  trx: Transaction,
  { merchant_id, id: collection_id }: PaymentRef,
  why: string,
): Promise<void> {
  const waiting = await firstRow<{ id: string }>(
    trx,
    `SELECT id FROM reversals WHERE merchant_id = :merchant_id AND collection_id = :collection_id
       AND status = 'pending'`,
    { merchant_id, collection_id },
  );
  if (!waiting) return;
  const reversal = { kind: 'reversal', merchant_id, id: waiting.id } as const;
  await failUnsent(trx, reversal, { ...failedHere(why), cause: 'support', heardAt: null });
}

/** Tells the merchant why its reversal was not sent. */
export const CORRECTED = 'The collection was corrected';
