import type { Transaction } from '../../connections/database.ts';
import {
  type DiscrepancyKind,
  openDiscrepancy,
  supersedeDiscrepancies,
} from '../discrepancies/discrepancy.ts';
import { supersedeUnknown } from '../discrepancies/unknown-movement.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, fillEmpty, refOf } from '../payments/payment-store.ts';
import { fillReturnedReceipt } from '../returns/create-return.ts';
import { storableText } from '../storable-text.ts';
import {
  reportContradiction,
  reportOtherPayment,
  reportReceiptOfAnother,
} from './contrary-news.ts';
import {
  fillReceipt,
  insertMovement,
  isOvertaken,
  type Movement,
  movementsOf,
  repeatedMovement,
} from './movements.ts';
import { rulesOf } from './rules.ts';
import type { News, Settlement } from './settlement.ts';
import { keepInSuspense } from './suspense.ts';
import { endAskingAfterFailure } from './taken-after-failure.ts';

const MAX_TEXT_LENGTH = 500;

/**
 * Applies a verdict to a locked payment. Books each reported movement exactly once: as
 * the payment's own, or to suspense when somebody must decide. Later news never changes what
 * the merchant was told without telling it again.
 */
export async function applyVerdict(
  trx: Transaction,
  payment: AnyPayment,
  verdict: News<Verdict>,
): Promise<Settlement> {
  const news = storable(verdict);
  if (namesAnother(payment, news)) return reportOtherPayment(trx, payment, news);
  const known = await movementsOf(trx, payment);
  const settlement =
    news.outcome === 'failed'
      ? await applyFailure(trx, payment, known, news)
      : await applySuccess(trx, payment, known, news);
  if (settlement === 'completed' || settlement === 'failed') {
    await supersedeDiscrepancies(trx, refOf(payment), ['overdue', 'never_taken']);
  }
  return settlement;
}

/** Returns the verdict with texts that PostgreSQL can store, whatever the gateway put there. */
function storable<V extends Verdict>(verdict: V): V {
  const fields = Object.entries(verdict).map(([name, value]) => [
    name,
    typeof value === 'string' ? storableText(value, MAX_TEXT_LENGTH) : value,
  ]);
  return Object.fromEntries(fields) as V;
}

/** Tells whether the gateway names another reference of its own than it gave this payment. */
function namesAnother({ external_ref }: AnyPayment, { externalRef }: Verdict): boolean {
  return externalRef !== null && external_ref !== null && externalRef !== external_ref;
}

async function applyFailure(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  news: News<Failed>,
): Promise<Settlement> {
  if (known.length > 0 && (await isOvertaken(trx, payment, news.heardAt))) return 'repeat';
  if (payment.status === 'failed') {
    await endAskingAfterFailure(trx, payment, news.heardAt);
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
  await rulesOf(payment).fail(trx, payment, news);
  return 'failed';
}

async function applySuccess(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  news: News<Succeeded>,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) return applyRepeat(trx, payment, repeated, news);
  const rules = rulesOf(payment);
  const problem = await problemOf(trx, payment, known, news);
  const waits = problem !== null || rules.comesTooLate?.(payment) === true;
  const movement = await insertMovement(trx, payment, news, waits ? 'suspense' : 'settled');
  if (!movement) return reportReceiptOfAnother(trx, payment, news);
  // A restored database may hear of the money before the payment comes again.
  const { gateway, reference } = payment;
  await supersedeUnknown(trx, { ...movement, gateway, reference });
  const current = await endAskingAfterFailure(trx, payment);
  if (problem) return keepInSuspense(trx, current, movement, problem);
  return rules.complete(trx, current, news, movement);
}

async function problemOf(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  news: Succeeded,
): Promise<DiscrepancyKind | null> {
  return known.length > 0 ? 'second_success' : rulesOf(payment).problemOf(trx, payment, news);
}

async function applyRepeat(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  news: News<Succeeded>,
): Promise<Settlement> {
  if (!(await fillReceipt(trx, payment, movement, news.transId))) {
    return reportReceiptOfAnother(trx, payment, news);
  }
  await endAskingAfterFailure(trx, payment);
  await fillReturnedReceipt(trx, movement, news.transId);
  if (movement.booked === 'settled') {
    await fillEmpty(trx, payment, { trans_id: news.transId, external_ref: news.externalRef });
  }
  return reportContradiction(trx, payment, movement, news);
}
