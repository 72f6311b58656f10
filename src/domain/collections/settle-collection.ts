import type { Transaction } from '../../database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { createEvent } from '../events/create-event.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import {
  fillReceipt,
  insertMovement,
  type Movement,
  mismatchOf,
  movementsOf,
  repeatedMovement,
} from '../payments/movements.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import { isOpen } from '../payments/payment.ts';
import { fillEmpty, refOf } from '../payments/payment-store.ts';
import { reportContradiction } from '../payments/report-contradiction.ts';
import type { Settlement } from '../payments/settle.ts';
import { bookToSuspense, keepInSuspense } from '../payments/suspense.ts';
import { createReturn, fillReturnedReceipt } from '../returns/create-return.ts';
import { transition } from '../transition.ts';
import { postJournal } from '../wallets/ledger.ts';
import type { Collection } from './collection.ts';

/**
 * Applies a gateway's verdict to a locked collection. Whatever money the gateway reports is
 * booked: to the merchant when it is what was asked for, else to suspense. The merchant
 * hears of the collection's end once; later news never changes what it was told.
 */
export async function settleCollection(
  trx: Transaction,
  collection: Collection,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, collection);
  return verdict.outcome === 'succeeded'
    ? applySuccess(trx, collection, known, verdict, cause)
    : applyFailure(trx, collection, known, verdict, cause);
}

async function applySuccess(
  trx: Transaction,
  collection: Collection,
  known: Movement[],
  news: Succeeded,
  cause: string,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) {
    await fillReceipt(trx, collection, repeated, news.transId);
    await fillReturnedReceipt(trx, collection, repeated, news.transId);
    if (repeated.booked === 'settled') {
      await fillEmpty(trx, collection, { trans_id: news.transId, external_ref: news.externalRef });
    }
    return reportContradiction(trx, collection, repeated, news);
  }
  if (known.length > 0) return keepInSuspense(trx, collection, news, 'second_success');
  const mismatch = mismatchOf(collection, news);
  // Another amount of the same customer can simply go back; money of somebody else cannot.
  if (!isOpen(collection) && mismatch !== 'other_account') {
    return returnLateMoney(trx, collection, news);
  }
  if (mismatch) return keepInSuspense(trx, collection, news, mismatch);
  await complete(trx, collection, news, cause);
  return 'completed';
}

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
    merchantId: completed.merchant_id,
    sourceKind: 'collection',
    sourceId: completed.id,
    kind: 'completed',
    lines: [
      { account: 'gateway_float', amountCents: -completed.amount_cents },
      { account: 'commission', amountCents: completed.commission_cents },
      {
        account: 'wallet:collection',
        amountCents: completed.amount_cents - completed.commission_cents,
        transaction: {
          type: 'collection',
          refNo: completed.ref_no,
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
): Promise<Settlement> {
  const movement = await bookToSuspense(trx, collection, news);
  await createReturn(trx, collection, movement);
  return 'late_success';
}

async function applyFailure(
  trx: Transaction,
  collection: Collection,
  known: Movement[],
  news: Failed,
  cause: string,
): Promise<Settlement> {
  if (collection.status === 'failed') {
    await fillEmpty(trx, collection, { external_ref: news.externalRef });
    return 'repeat';
  }
  if (known.length > 0) {
    await openDiscrepancy(trx, {
      kind: 'failure_after_success',
      payment: refOf(collection),
      details: { code: news.code, description: news.description },
    });
    return 'discrepancy';
  }
  await failCollection(trx, collection, news, cause);
  return 'failed';
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
