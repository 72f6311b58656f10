import type { Transaction } from '../../connections/database.ts';
import { openDiscrepancy, supersedeDiscrepancies } from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, fillEmpty, refOf } from '../payments/payment-store.ts';
import { fillReturnedReceipt } from '../returns/create-return.ts';
import { storableText } from '../storable-text.ts';
import {
  fillReceipt,
  learnedSince,
  type Movement,
  mismatchOf,
  movementsOf,
  repeatedMovement,
} from './movements.ts';
import { rulesOf } from './rules.ts';
import type { Settlement } from './settlement.ts';
import { keepInSuspense } from './suspense.ts';

const MAX_TEXT_LENGTH = 500;

/**
 * Applies a gateway's verdict to a payment that this transaction has locked.
 * @param heardAt is the time at which the verdict arrived or was asked for, if that was before
 * now. A failure heard before the gateway told of a success is overtaken, not contrary.
 */
export async function settle(
  trx: Transaction,
  payment: AnyPayment,
  verdict: Verdict,
  cause: string,
  heardAt?: Date,
): Promise<Settlement> {
  if (verdict.outcome === 'failed' && heardAt && (await learnedSince(trx, payment, heardAt))) {
    return 'repeat';
  }
  const settlement = await applyVerdict(trx, payment, storableVerdict(verdict), cause);
  if (settlement === 'completed' || settlement === 'failed') {
    await supersedeDiscrepancies(trx, refOf(payment), ['overdue', 'never_taken']);
  }
  return settlement;
}

/** Returns the verdict with texts that PostgreSQL can store, whatever the gateway put there. */
function storableVerdict<V extends Verdict>(verdict: V): V {
  const fields = Object.entries(verdict).map(([name, value]) => [
    name,
    typeof value === 'string' ? storableText(value, MAX_TEXT_LENGTH) : value,
  ]);
  return Object.fromEntries(fields) as V;
}

/**
 * Applies a verdict to a locked payment. Books each reported movement exactly once: as
 * the payment's own, or to suspense when somebody must decide. Later news never changes what
 * the merchant was told.
 */
async function applyVerdict(
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
  const kind = mismatchOf(payment, news, known);
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
