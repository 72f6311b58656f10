import type { Transaction } from '../../connections/database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, fillEmpty, refOf } from '../payments/payment-store.ts';
import { fillReturnedReceipt } from '../returns/create-return.ts';
import {
  contradictionOf,
  fillReceipt,
  type Movement,
  movementsOf,
  repeatedMovement,
} from './movements.ts';
import { rulesOf } from './rules.ts';
import type { Settlement } from './settlement.ts';
import { keepInSuspense } from './suspense.ts';

/**
 * Applies a verdict to a locked payment. Books every movement that a gateway reports once: as
 * the payment's own, or to suspense when somebody must decide. Later news never changes what
 * the merchant was told.
 */
export async function applyVerdict(
  trx: Transaction,
  payment: AnyPayment,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, payment);
  if (verdict.outcome === 'failed') {
    return applyFailure(trx, payment, known, verdict, cause);
  }
  const repeated = repeatedMovement(known, verdict);
  if (repeated) return applyRepeat(trx, payment, repeated, verdict);
  const rules = rulesOf(payment);
  const problem =
    known.length > 0 ? 'second_success' : await rules.problemOf(trx, payment, verdict);
  if (problem) return keepInSuspense(trx, payment, verdict, problem);
  return rules.complete(trx, payment, verdict, cause);
}

async function applyFailure(
  trx: Transaction,
  payment: AnyPayment,
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
  await rulesOf(payment).fail(trx, payment, news, cause);
  return 'failed';
}

async function applyRepeat(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  news: Succeeded,
): Promise<Settlement> {
  await fillReceipt(trx, movement, news.transId);
  await fillReturnedReceipt(trx, movement, news.transId);
  if (movement.booked === 'settled') {
    await fillEmpty(trx, payment, { trans_id: news.transId, external_ref: news.externalRef });
  }
  return reportContradiction(trx, payment, movement, news);
}

/** Reports news that states another amount or account than was booked. It changes no books. */
async function reportContradiction(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement,
  news: Succeeded,
): Promise<Settlement> {
  const kind = contradictionOf(payment, known, news);
  if (!kind) return 'repeat';
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    details: { booked_cents: known.amount_cents, account: news.account },
  });
  return 'discrepancy';
}
