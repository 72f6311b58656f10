import type { Transaction } from '../../database.ts';
import {
  type DiscrepancyKind,
  openDiscrepancy,
  supersedeDiscrepancies,
} from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import {
  fillReceipt,
  findMovement,
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
  const problem = await problemOf(trx, payment, known, news);
  if (problem) return keepInSuspense(trx, payment, news, problem);
  await complete(trx, payment, news, cause);
  return 'completed';
}

async function problemOf(
  trx: Transaction,
  payment: Return,
  known: Movement[],
  news: Succeeded,
): Promise<DiscrepancyKind | null> {
  if (known.length > 0) return 'second_success';
  // Support has given the money back in another way meanwhile.
  const original = await findMovement(trx, payment.merchant_id, payment.movement_id);
  if (original.booked === 'cleared') return 'second_success';
  return mismatchOf(payment, news);
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
  await supersedeDiscrepancies(trx, refOf(payment), ['return_failed']);
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
  if (known.length > 0) {
    await openDiscrepancy(trx, {
      kind: 'failure_after_success',
      payment: refOf(payment),
      details: { code: news.code, description: news.description },
    });
    return 'discrepancy';
  }
  await failReturn(trx, payment, news, cause);
  return 'failed';
}

/** Fails an open return: the customer's money stays in suspense until support has decided. */
export async function failReturn(
  trx: Transaction,
  payment: Return,
  news: Failed,
  cause: string,
): Promise<void> {
  await openDiscrepancy(trx, {
    kind: 'return_failed',
    payment: refOf(payment),
    movementId: payment.movement_id,
    amountCents: payment.amount_cents,
    details: { code: news.code, description: news.description },
  });
  await transition(trx, payment, {
    to: 'failed',
    set: failureColumns(payment, news),
    step: 'none',
    cause,
  });
}
