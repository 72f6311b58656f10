import { firstRow, type Transaction } from '../../database.ts';
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
import type { Settlement } from '../payments/settle.ts';
import { keepInSuspense } from '../payments/suspense.ts';
import { transition } from '../transition.ts';
import { postJournal } from '../wallets/ledger.ts';
import { reversedLines } from './journals.ts';
import type { Reversal } from './reversal.ts';

/**
 * Applies a gateway's verdict to a reversal that is locked, and its collection before it.
 * A success after a failure still reverses the collection, unless another reversal has
 * taken its place: then the customer was paid twice, which support must settle.
 */
export async function settleReversal(
  trx: Transaction,
  reversal: Reversal,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  const known = await movementsOf(trx, reversal);
  return verdict.outcome === 'succeeded'
    ? applySuccess(trx, reversal, known, verdict, cause)
    : applyFailure(trx, reversal, known, verdict, cause);
}

async function applySuccess(
  trx: Transaction,
  reversal: Reversal,
  known: Movement[],
  news: Succeeded,
  cause: string,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) {
    await fillReceipt(trx, reversal, repeated, news.transId);
    if (repeated.booked === 'settled') {
      await fillEmpty(trx, reversal, { trans_id: news.transId, external_ref: news.externalRef });
    }
    return reportContradiction(trx, reversal, repeated, news);
  }
  const problem = await problemOf(trx, reversal, known, news);
  if (problem) return keepInSuspense(trx, reversal, news, problem);
  await complete(trx, reversal, news, cause);
  return 'completed';
}

async function problemOf(
  trx: Transaction,
  reversal: Reversal,
  known: Movement[],
  news: Succeeded,
): Promise<DiscrepancyKind | null> {
  if (known.length > 0) return 'second_success';
  if (!isOpen(reversal) && (await hasSuccessor(trx, reversal))) return 'second_reversal';
  return mismatchOf(reversal, news);
}

/** Whether another reversal of the same collection is open or done; none can begin meanwhile. */
async function hasSuccessor(trx: Transaction, reversal: Reversal): Promise<boolean> {
  const other = await firstRow(
    trx,
    `SELECT 1 FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :collection_id AND id <> :id
       AND status <> 'failed'`,
    {
      merchant_id: reversal.merchant_id,
      collection_id: reversal.collection_id,
      id: reversal.id,
    },
  );
  return other !== undefined;
}

async function complete(
  trx: Transaction,
  reversal: Reversal,
  news: Succeeded,
  cause: string,
): Promise<void> {
  const completed = await transition(trx, reversal, {
    to: 'completed',
    set: successColumns(reversal, news),
    step: 'none',
    cause,
  });
  await insertMovement(trx, completed, news, 'settled');
  // The merchant hears of its end once; a late success does not change what it was told.
  if (isOpen(reversal)) await createEvent(trx, completed);
  const posted = await postJournal(trx, {
    merchantId: completed.merchant_id,
    sourceKind: 'reversal',
    sourceId: completed.id,
    kind: 'completed',
    lines: reversedLines(completed),
  });
  if (!posted) throw new Error(`The journal of reversal ${completed.id} was posted before`);
}

async function applyFailure(
  trx: Transaction,
  reversal: Reversal,
  known: Movement[],
  news: Failed,
  cause: string,
): Promise<Settlement> {
  if (reversal.status === 'failed') {
    await fillEmpty(trx, reversal, { external_ref: news.externalRef });
    return 'repeat';
  }
  if (known.length > 0) {
    await openDiscrepancy(trx, {
      kind: 'failure_after_success',
      payment: refOf(reversal),
      details: { code: news.code, description: news.description },
    });
    return 'discrepancy';
  }
  await failReversal(trx, reversal, news, cause);
  return 'failed';
}

/** Ends an open reversal; its collection may be reversed again. */
export async function failReversal(
  trx: Transaction,
  reversal: Reversal,
  news: Failed,
  cause: string,
): Promise<void> {
  const failed = await transition(trx, reversal, {
    to: 'failed',
    set: failureColumns(reversal, news),
    step: 'none',
    cause,
  });
  await createEvent(trx, failed);
}
