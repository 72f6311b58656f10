import { rows, type Transaction } from '../../connections/database.ts';
import { recordOperatorTrouble } from '../channels/operator-trouble.ts';
import type { Failed } from '../gateway-results.ts';
import { type AnyPayment, fillEmpty, type PaymentRef } from '../payments/payment-store.ts';
import { endAskingAfterFailure } from './after-failure.ts';
import { reportFailureAfterSuccess } from './contrary-news.ts';
import { failUnsent } from './fail-unsent.ts';
import { clearedByWord, type Movement } from './movements.ts';
import { isOvertaken } from './overtaken.ts';
import { rulesOf } from './rules.ts';
import type { News, Settlement } from './settle.ts';
import { askBeforeFailing, hasMovedAlready } from './unconfirmed.ts';

/** @param known are the movements that nobody has taken back: only these contradict a failure */
export async function applyFailure(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  news: News<Failed>,
): Promise<Settlement> {
  // A repeated callback is as old as the first.
  const saidAt = news.told?.at ?? news.heardAt;
  if (known.length > 0 && (await isOvertaken(trx, payment, saidAt))) return 'repeat';
  // Support has taken the money of a reversed collection out of the books already.
  if (known.length === 0 && payment.status === 'completed') return 'repeat';
  if (payment.status === 'failed') {
    await endAskingAfterFailure(trx, payment, { heardAt: saidAt, externalRef: news.externalRef });
    await fillEmpty(trx, payment, { external_ref: news.externalRef });
    if (!(await hasBounced(trx, payment, known, news))) return 'repeat';
    await reportFailureAfterSuccess(trx, payment, news);
    if (payment.kind === 'collection') await failUnsentReturns(trx, payment, news);
    return 'discrepancy';
  }
  if (known.length > 0) {
    await reportFailureAfterSuccess(trx, payment, news);
    return 'discrepancy';
  }
  if (await askBeforeFailing(trx, payment, news.heardAt)) return 'put_off';
  if (news.cause !== 'support' && (await hasMovedAlready(trx, payment))) return 'put_off';
  await rulesOf(payment).fail(trx, payment, news);
  if (news.operatorTrouble) await recordOperatorTrouble(trx, payment, news.operatorTrouble);
  return 'failed';
}

/**
 * Tells whether the gateway has failed a failed payment again, after it told of its money that waits for a decision,
 * that the customer has back, or that is our loss. A repeated callback is as old as the first.
 */
async function hasBounced(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  { cause, heardAt, told }: News<Failed>,
): Promise<boolean> {
  if (cause === 'support' || cause === 'statement') return false;
  const mayBounce = await hasMoneyToBounce(trx, payment, known);
  return mayBounce && !(await isOvertaken(trx, payment, told?.at ?? heardAt));
}

/** Tells whether a failed payment has money that waits, that the customer has back, or that is our loss. */
export async function hasMoneyToBounce(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
): Promise<boolean> {
  const waits = ['suspense', 'returning', ...(payment.kind === 'collection' ? ['cleared'] : [])];
  return (
    known.some(({ booked }) => waits.includes(booked)) ||
    (await clearedByWord(trx, payment)).some(({ resolution }) => resolution === 'failed')
  );
}

/** Sends no money back that may have bounced: it waits in suspense again. */
async function failUnsentReturns(
  trx: Transaction,
  collection: PaymentRef,
  news: News<Failed>,
): Promise<void> {
  const waiting = await rows<PaymentRef>(
    trx,
    `SELECT 'return' AS kind, merchant_id, id FROM returns
     WHERE merchant_id = :merchant_id AND collection_id = :id AND status = 'pending' ORDER BY id`,
    collection,
  );
  const { code, description } = news;
  const failure = { outcome: 'failed', code, description, externalRef: null } as const;
  for (const ref of waiting) {
    await failUnsent(trx, ref, { ...failure, cause: 'late_failure', heardAt: null });
  }
}
