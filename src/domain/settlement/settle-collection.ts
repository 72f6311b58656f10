import type { Transaction } from '../../connections/database.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { postJournal } from '../ledger/post-journal.ts';
import type { Collection } from '../payments/collection.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import { isOpen } from '../payments/payment.ts';
import { transition } from '../payments/transition.ts';
import { createReturn } from '../returns/create-return.ts';
import { createEvent } from '../webhooks/create-event.ts';
import type { Settling } from './apply-verdict.ts';
import { insertMovement, mismatchOf } from './movements.ts';
import { bookToSuspense } from './suspense.ts';

/**
 * A collection's money goes to the merchant when it is what was asked for. What comes after
 * its failure was recorded goes back to the customer.
 */
export const COLLECTION_SETTLING: Settling<Collection> = {
  problemOf: (_trx, collection, news) => {
    const mismatch = mismatchOf(collection, news);
    // Another amount of the same customer can simply go back; money of somebody else cannot.
    return isOpen(collection) || mismatch === 'other_account' ? mismatch : null;
  },
  complete: async (trx, collection, news, cause) => {
    if (!isOpen(collection)) return returnLateMoney(trx, collection, news);
    await complete(trx, collection, news, cause);
    return 'completed';
  },
  fail: failCollection,
};

async function complete(
  trx: Transaction,
  collection: Collection,
  news: Succeeded,
  cause: string,
): Promise<void> {
  const completed = await transition(trx, collection, {
    to: 'completed',
    set: successColumns(collection, news),
    step: 'none',
    cause,
  });
  await insertMovement(trx, completed, news, 'settled');
  await createEvent(trx, completed);
  // The wallet is the row that all of a merchant's collections share, so it is locked last.
  const posted = await postJournal(trx, {
    merchant_id: completed.merchant_id,
    source_kind: 'collection',
    source_id: completed.id,
    kind: 'completed',
    lines: [
      { account: 'gateway_float', amount_cents: -completed.amount_cents },
      { account: 'commission', amount_cents: completed.commission_cents },
      {
        account: 'wallet:collection',
        amount_cents: completed.amount_cents - completed.commission_cents,
        transaction: {
          type: 'collection',
          ref_no: completed.ref_no,
          counterparty: completed.payfrom,
          description: 'Collection, net of commission',
        },
      },
    ],
  });
  if (!posted) throw new Error(`The journal of collection ${completed.id} was posted before`);
}

/** The customer paid for what was already reported as failed, and gets the money back. */
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
  const failed = await transition(trx, collection, {
    to: 'failed',
    set: failureColumns(collection, news),
    step: 'none',
    cause,
  });
  await createEvent(trx, failed);
}
