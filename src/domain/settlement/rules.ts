import { hasRow, type Transaction } from '../../connections/database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import type { Failed } from '../gateway-results.ts';
import { collectedLines, paidOutLines, reversedLines } from '../payments/journals.ts';
import {
  awaitsRefund,
  type Collection,
  type Payout,
  type Return,
  type Reversal,
} from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { createReturn } from '../returns/create-return.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { refundUnlessHeld } from './after-failure.ts';
import { completePayment, failPayment, moveToCompleted } from './end-payment.ts';
import { findMovement, isGone, mismatchOf, rebookMovement } from './movements.ts';
import type { News, SettlingRules } from './settle.ts';
import { postMovement, postToSuspense } from './suspense.ts';

/** Returns the rules of the payment's kind. */
export function rulesOf({ kind }: AnyPayment): SettlingRules<AnyPayment> {
  return RULES[kind];
}

/**
 * Money of an open collection goes to the merchant if it is what was asked for. Money that
 * comes after the failure was recorded goes back to the customer if the gateway itself tells of the
 * amount and the account that were asked for. Otherwise a person decides.
 */
const COLLECTION: SettlingRules<Collection> = {
  problemOf: (_trx, collection, news) => {
    const mismatch = mismatchOf(collection, news);
    if (isOpen(collection)) return mismatch;
    // Only the callback or answer about a payment names the payment without its account.
    const isSure = news.account !== null || news.cause !== 'statement';
    if (news.isFromFile || !isSure || mismatch === 'other_amount') return 'paid_after_failure';
    return mismatch;
  },
  comesTooLate: (collection) => !isOpen(collection),
  complete: async (trx, collection, news, movement) => {
    if (isOpen(collection)) return completePayment(trx, collection, news, collectedLines);
    await postToSuspense(trx, collection, movement);
    await createReturn(trx, collection, movement);
    return 'late_success';
  },
  fail: failAndTell,
};

/**
 * A failure of a payout only plans the refund, which waits for an open question about where its money
 * is. Until the refund is posted, a success still
 * completes the payout, and the refund never happens. The merchant hears of the failure with
 * the refund only.
 */
const PAYOUT: SettlingRules<Payout> = {
  problemOf: (_trx, payout, news) =>
    isOpen(payout) || awaitsRefund(payout) ? mismatchOf(payout, news) : 'paid_after_refund',
  complete: (trx, payout, news) => completePayment(trx, payout, news, paidOutLines),
  // When people fail it, their decision lets the refund go afterwards, if no other question holds it.
  fail: async (trx, payout, news) => {
    await failPayment(trx, payout, news, await refundUnlessHeld(trx, payout));
  },
};

/**
 * After a failure the collection may be reversed again. A success after the failure still
 * reverses it, unless another reversal has taken its place, or it has named a receipt that is not the
 * collection's any more. Then another customer was paid, or this one twice, and support must decide. The collection is locked, so no other reversal begins meanwhile.
 */
const REVERSAL: SettlingRules<Reversal> = {
  problemOf: async (trx, reversal, news) => {
    const isOvertaken = !isOpen(reversal) && (await hasSuccessor(trx, reversal));
    // Support has undone the collection: nothing is left to be given back.
    if (isOvertaken || (await isUndone(trx, reversal))) return 'second_reversal';
    if (!isOpen(reversal) && !(await namesItsReceipt(trx, reversal))) return 'second_reversal';
    return mismatchOf(reversal, news);
  },
  // A merchant that was told of the failure is told again.
  complete: (trx, reversal, news) => completePayment(trx, reversal, news, reversedLines),
  fail: failAndTell,
};

/** Money that the customer got leaves suspense. The money of a failed return stays there. */
const RETURN: SettlingRules<Return> = {
  problemOf: async (trx, payment, news) => {
    const { merchant_id, movement_id: id } = payment;
    const original = await findMovement(trx, { merchant_id, id });
    return isGone(original) ? 'second_success' : mismatchOf(payment, news);
  },
  complete: async (trx, payment, news, movement) => {
    const { merchant_id, movement_id: id } = payment;
    await rebookMovement(trx, { merchant_id, id }, 'cleared');
    await postMovement(trx, movement, 'returned', [
      { account: 'suspense', amount_cents: -movement.amount_cents },
      { account: 'gateway_float', amount_cents: movement.amount_cents },
    ]);
    await supersedeDiscrepancies(trx, refOf(payment), ['return_failed']);
    await moveToCompleted(trx, payment, news);
    return 'completed';
  },
  fail: async (trx, payment, news) => {
    const { merchant_id, movement_id: id } = payment;
    await rebookMovement(trx, { merchant_id, id }, 'suspense');
    await openDiscrepancy(trx, {
      kind: 'return_failed',
      payment: refOf(payment),
      movement_id: payment.movement_id,
      amount_cents: payment.amount_cents,
      details: { code: news.code, description: news.description },
    });
    await failPayment(trx, payment, news);
  },
};

const RULES: { readonly [P in AnyPayment as P['kind']]: SettlingRules<P> } = {
  collection: COLLECTION,
  payout: PAYOUT,
  reversal: REVERSAL,
  return: RETURN,
};

/** Ends an open payment without money and tells the merchant. */
async function failAndTell(
  trx: Transaction,
  payment: Collection | Reversal,
  news: News<Failed>,
): Promise<void> {
  await createEvent(trx, await failPayment(trx, payment, news));
}

/** Tells whether another reversal of the same collection is open or done. */
function hasSuccessor(trx: Transaction, reversal: Reversal): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :collection_id AND id <> :id
       AND status <> 'failed'`,
    reversal,
  );
}

/** Tells whether the reversal has named the receipt that its collection has now. Support may have corrected it. */
function namesItsReceipt(trx: Transaction, reversal: Reversal): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM collections WHERE merchant_id = :merchant_id AND id = :collection_id
       AND upper(trans_id) = upper(CAST(:original_trans_id AS text))`,
    reversal,
  );
}

function isUndone(
  trx: Transaction,
  { merchant_id, collection_id: id }: Reversal,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM collections
     WHERE merchant_id = :merchant_id AND id = :id AND undone_at IS NOT NULL`,
    { merchant_id, id },
  );
}
