import type { Transaction } from '../../connections/database.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import { isOpen } from '../payments/payment.ts';
import { awaitsRefund, type Payout } from '../payments/payout.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { transition } from '../payments/transition.ts';
import { completedLines } from '../payouts/journals.ts';
import { createEvent } from '../webhooks/create-event.ts';
import type { Settling } from './apply-verdict.ts';
import { insertMovement, mismatchOf } from './movements.ts';

/**
 * A failure of a payout only plans the refund; until that is posted a success still
 * completes the payout, and the refund never happens.
 */
export const PAYOUT_SETTLING: Settling<Payout> = {
  problemOf: (_trx, payout, news) =>
    isOpen(payout) || awaitsRefund(payout) ? mismatchOf(payout, news) : 'paid_after_refund',
  complete,
  fail: failPayout,
};

async function complete(
  trx: Transaction,
  payout: Payout,
  news: Succeeded,
  cause: string,
): Promise<'completed'> {
  const completed = await transition(trx, payout, {
    to: 'completed',
    set: successColumns(payout, news),
    step: 'none',
    cause,
  });
  await insertMovement(trx, completed, news, 'settled');
  await createEvent(trx, completed);
  const posted = await postJournal(trx, {
    merchant_id: completed.merchant_id,
    source_kind: 'payout',
    source_id: completed.id,
    kind: 'completed',
    lines: completedLines(completed),
  });
  if (!posted) throw new Error(`The journal of payout ${completed.id} was posted before`);
  return 'completed';
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
