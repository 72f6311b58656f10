import type { Transaction } from '../../database.ts';
import { openDiscrepancy, resolveDiscrepancy } from '../discrepancies/discrepancy.ts';
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
import { fillEmpty, refOf } from '../payments/payment-store.ts';
import { reportContradiction } from '../payments/report-contradiction.ts';
import type { Settlement } from '../payments/settle.ts';
import { keepInSuspense, postMovement } from '../payments/suspense.ts';
import { transition } from '../transition.ts';
import type { Return } from './return.ts';

/**
 * Applies a gateway's verdict to a locked return. Money that the customer got leaves
 * suspense; a return that failed leaves it there, on the support list.
 */
export async function settleReturn(
  trx: Transaction,
  payment: Return,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, payment);
  return verdict.outcome === 'succeeded'
    ? applySuccess(trx, payment, known, verdict, cause)
    : applyFailure(trx, payment, known, verdict, cause);
}

async function applySuccess(
  trx: Transaction,
  payment: Return,
  known: Movement[],
  news: Succeeded,
  cause: string,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) {
    await fillReceipt(trx, payment, repeated, news.transId);
    if (repeated.booked === 'settled') {
      await fillEmpty(trx, payment, { trans_id: news.transId, external_ref: news.externalRef });
    }
    return reportContradiction(trx, payment, repeated, news);
  }
  const problem = known.length > 0 ? 'second_success' : mismatchOf(payment, news);
  if (problem) return keepInSuspense(trx, payment, news, problem);
  await complete(trx, payment, news, cause);
  return 'completed';
}

/** The customer has the money, which leaves suspense. */
async function complete(
  trx: Transaction,
  payment: Return,
  news: Succeeded,
  cause: string,
): Promise<void> {
  const movement = await insertMovement(trx, payment, news, 'settled');
  await postMovement(trx, payment.merchant_id, movement.id, 'returned', [
    { account: 'suspense', amountCents: -movement.amount_cents },
    { account: 'gateway_float', amountCents: movement.amount_cents },
  ]);
  await resolveDiscrepancy(trx, 'return_failed', refOf(payment));
  await transition(trx, payment, {
    to: 'completed',
    set: successColumns(payment, news),
    step: 'none',
    cause,
  });
}

async function applyFailure(
  trx: Transaction,
  payment: Return,
  known: Movement[],
  news: Failed,
  cause: string,
): Promise<Settlement> {
  if (payment.status === 'failed') return 'repeat';
  const kind = known.length > 0 ? 'failure_after_success' : 'return_failed';
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    amountCents: payment.amount_cents,
    details: { code: news.code, description: news.description },
  });
  if (known.length > 0) return 'discrepancy';
  await transition(trx, payment, {
    to: 'failed',
    set: failureColumns(payment, news),
    step: 'none',
    cause,
  });
  return 'failed';
}
