import type { Transaction } from '../../connections/database.ts';
import { completedLines } from '../collections/journals.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import type { Collection } from '../payments/collection.ts';
import { isOpen } from '../payments/payment.ts';
import { createReturn } from '../returns/create-return.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { completePayment, failPayment } from './end-payment.ts';
import { mismatchOf } from './movements.ts';
import type { Settling } from './settlement.ts';
import { bookToSuspense } from './suspense.ts';

/**
 * Money of an open collection goes to the merchant if it is what was asked for. Money that
 * comes after the failure was recorded goes back to the customer.
 */
export const COLLECTION_SETTLING: Settling<Collection> = {
  problemOf: (_trx, collection, news) => {
    const mismatch = mismatchOf(collection, news);
    // Another amount of the same customer can simply go back. Money of somebody else cannot.
    return isOpen(collection) || mismatch === 'other_account' ? mismatch : null;
  },
  complete: async (trx, collection, news, cause) => {
    if (!isOpen(collection)) return returnLateMoney(trx, collection, news);
    const lines = (completed: Collection) => completedLines(completed);
    await completePayment(trx, collection, news, cause, { lines, tellsMerchant: true });
    return 'completed';
  },
  fail: failCollection,
};

/** Sends money back that the customer paid after the failure was reported. */
async function returnLateMoney(
  trx: Transaction,
  collection: Collection,
  news: Succeeded,
): Promise<'late_success'> {
  const movement = await bookToSuspense(trx, collection, news);
  await createReturn(trx, collection, movement);
  return 'late_success';
}

/** Ends an open collection without money, and tells the merchant. */
export async function failCollection(
  trx: Transaction,
  collection: Collection,
  news: Failed,
  cause: string,
): Promise<void> {
  await createEvent(trx, await failPayment(trx, collection, news, cause));
}
