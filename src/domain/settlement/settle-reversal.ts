import { firstRow, type Transaction } from '../../connections/database.ts';
import type { Failed } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import type { Reversal } from '../payments/reversal.ts';
import { reversedLines } from '../reversals/journals.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { completePayment, failPayment } from './end-payment.ts';
import { mismatchOf } from './movements.ts';
import type { Settling } from './settlement.ts';

/**
 * A success after a failure still reverses the collection, unless another reversal has taken
 * its place. Then the customer was paid twice, and support must decide. The collection is
 * locked, so no other reversal begins meanwhile.
 */
export const REVERSAL_SETTLING: Settling<Reversal> = {
  problemOf: async (trx, reversal, news) => {
    if (!isOpen(reversal) && (await hasSuccessor(trx, reversal))) return 'second_reversal';
    return mismatchOf(reversal, news);
  },
  complete: async (trx, reversal, news, cause) => {
    // The merchant hears of the end once. A late success does not change what it was told.
    const tellsMerchant = isOpen(reversal);
    const lines = (completed: Reversal) => reversedLines(completed);
    await completePayment(trx, reversal, news, cause, { lines, tellsMerchant });
    return 'completed';
  },
  fail: failReversal,
};

/** Tells whether another reversal of the same collection is open or done. */
async function hasSuccessor(trx: Transaction, reversal: Reversal): Promise<boolean> {
  const { merchant_id, id, collection_id } = reversal;
  const other = await firstRow(
    trx,
    `SELECT 1 FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :collection_id AND id <> :id
       AND status <> 'failed'`,
    { merchant_id, id, collection_id },
  );
  return other !== undefined;
}

/** Ends an open reversal and tells the merchant. Its collection may be reversed again. */
export async function failReversal(
  trx: Transaction,
  reversal: Reversal,
  news: Failed,
  cause: string,
): Promise<void> {
  await createEvent(trx, await failPayment(trx, reversal, news, cause));
}
