import type { Transaction } from '../../connections/database.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, fillEmpty, refOf } from '../payments/payment-store.ts';
import { fillReturnedReceipt } from '../returns/create-return.ts';
import { fillReceipt, type Movement, movementsOf, repeatedMovement } from './movements.ts';
import { reportContradiction } from './report-contradiction.ts';
import { keepInSuspense } from './suspense.ts';

/** What a verdict came to, in words for support and logs. */
export type Settlement =
  | 'completed'
  | 'failed'
  /** Known already; at most empty fields were filled. */
  | 'repeat'
  /** Success after a recorded failure: the money is in suspense and on its way back. */
  | 'late_success'
  /** It contradicts the payment: recorded as a discrepancy, the payment's state not moved. */
  | 'discrepancy';

/** What a kind of payment makes of news that is neither a repeat nor contrary. */
export interface Settling<P extends AnyPayment> {
  /** Why a movement cannot simply be the payment's own; null when it is. None is known so far. */
  problemOf(
    trx: Transaction,
    payment: P,
    news: Succeeded,
  ): Promise<DiscrepancyKind | null> | DiscrepancyKind | null;
  /** Books the movement and moves the payment. */
  complete(
    trx: Transaction,
    payment: P,
    news: Succeeded,
    cause: string,
  ): Promise<'completed' | 'late_success'>;
  /** Moves an open payment of which no money is known. */
  fail(trx: Transaction, payment: P, news: Failed, cause: string): Promise<void>;
}

/**
 * Applies a verdict to a locked payment. Whatever money a gateway reports is booked once:
 * as the payment's own, or to suspense when somebody must decide. Later news never changes
 * what the merchant was told.
 */
export async function applyVerdict<P extends AnyPayment>(
  trx: Transaction,
  settling: Settling<P>,
  payment: P,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, payment);
  if (verdict.outcome === 'failed') {
    return applyFailure(trx, settling, payment, known, verdict, cause);
  }
  const repeated = repeatedMovement(known, verdict);
  if (repeated) return applyRepeat(trx, payment, repeated, verdict);
  const problem =
    known.length > 0 ? 'second_success' : await settling.problemOf(trx, payment, verdict);
  if (problem) return keepInSuspense(trx, payment, verdict, problem);
  return settling.complete(trx, payment, verdict, cause);
}

async function applyRepeat(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  news: Succeeded,
): Promise<Settlement> {
  await fillReceipt(trx, payment, movement, news.transId);
  await fillReturnedReceipt(trx, payment, movement, news.transId);
  if (movement.booked === 'settled') {
    await fillEmpty(trx, payment, { trans_id: news.transId, external_ref: news.externalRef });
  }
  return reportContradiction(trx, payment, movement, news);
}

async function applyFailure<P extends AnyPayment>(
  trx: Transaction,
  settling: Settling<P>,
  payment: P,
  known: Movement[],
  news: Failed,
  cause: string,
): Promise<Settlement> {
  if (payment.status === 'failed') {
    await fillEmpty(trx, payment, { external_ref: news.externalRef });
    return 'repeat';
  }
  if (known.length > 0) {
    await openDiscrepancy(trx, {
      kind: 'failure_after_success',
      payment: refOf(payment),
      details: { code: news.code, description: news.description },
    });
    return 'discrepancy';
  }
  await settling.fail(trx, payment, news, cause);
  return 'failed';
}
