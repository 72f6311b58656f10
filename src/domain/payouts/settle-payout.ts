import type { Transaction } from '../../database.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
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
import { REFUND_STEP } from '../payments/schedule.ts';
import type { Settlement } from '../payments/settle.ts';
import { keepInSuspense } from '../payments/suspense.ts';
import { transition } from '../transition.ts';
import { postJournal } from '../wallets/ledger.ts';
import { completedLines } from './journals.ts';
import { awaitsRefund, type Payout } from './payout.ts';

/**
 * Applies a gateway's verdict to a locked payout. A failure only plans the refund; until
 * that is posted a success still completes the payout, and the refund never happens.
 */
export async function settlePayout(
  trx: Transaction,
  payout: Payout,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, payout);
  return verdict.outcome === 'succeeded'
    ? applySuccess(trx, payout, known, verdict, cause)
    : applyFailure(trx, payout, known, verdict, cause);
}

async function applySuccess(
  trx: Transaction,
  payout: Payout,
  known: Movement[],
  news: Succeeded,
  cause: string,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) {
    await fillReceipt(trx, payout, repeated, news.transId);
    if (repeated.booked === 'settled') {
      await fillEmpty(trx, payout, { trans_id: news.transId, external_ref: news.externalRef });
    }
    return reportContradiction(trx, payout, repeated, news);
  }
  const problem = problemOf(payout, known, news);
  if (problem) return keepInSuspense(trx, payout, news, problem);
  await complete(trx, payout, news, cause);
  return 'completed';
}

function problemOf(payout: Payout, known: Movement[], news: Succeeded): DiscrepancyKind | null {
  if (known.length > 0) return 'second_success';
  if (!isOpen(payout) && !awaitsRefund(payout)) return 'paid_after_refund';
  return mismatchOf(payout, news);
}

async function complete(
  trx: Transaction,
  payout: Payout,
  news: Succeeded,
  cause: string,
): Promise<void> {
  const completed = await transition(trx, payout, {
    to: 'completed',
    set: successColumns(payout, news),
    step: 'none',
    cause,
  });
  await insertMovement(trx, completed, news, 'settled');
  await createEvent(trx, completed);
  const posted = await postJournal(trx, {
    merchantId: completed.merchant_id,
    sourceKind: 'payout',
    sourceId: completed.id,
    kind: 'completed',
    lines: completedLines(completed),
  });
  if (!posted) throw new Error(`The journal of payout ${completed.id} was posted before`);
}

async function applyFailure(
  trx: Transaction,
  payout: Payout,
  known: Movement[],
  news: Failed,
  cause: string,
): Promise<Settlement> {
  if (payout.status === 'failed') {
    await fillEmpty(trx, payout, { external_ref: news.externalRef });
    return 'repeat';
  }
  if (known.length > 0) {
    await openDiscrepancy(trx, {
      kind: 'failure_after_success',
      payment: refOf(payout),
      details: { code: news.code, description: news.description },
    });
    return 'discrepancy';
  }
  await failPayout(trx, payout, news, cause);
  return 'failed';
}

/** Fails an open payout; the refund, and with it the news for the merchant, comes next. */
export async function failPayout(
  trx: Transaction,
  payout: Payout,
  news: Failed,
  cause: string,
): Promise<void> {
  await transition(trx, payout, {
    to: 'failed',
    set: failureColumns(payout, news),
    step: REFUND_STEP,
    cause,
  });
}
