import type { Transaction } from '../../connections/database.ts';
import type { Failed } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import { awaitsRefund, type Payout } from '../payments/payout.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { completedLines } from '../payouts/journals.ts';
import { completePayment, failPayment } from './end-payment.ts';
import { mismatchOf } from './movements.ts';
import type { Settling } from './settlement.ts';

/**
 * A failure of a payout only plans the refund. Until the refund is posted, a success still
 * completes the payout, and the refund never happens.
 */
export const PAYOUT_SETTLING: Settling<Payout> = {
  problemOf: (_trx, payout, news) =>
    isOpen(payout) || awaitsRefund(payout) ? mismatchOf(payout, news) : 'paid_after_refund',
  complete: async (trx, payout, news, cause) => {
    // The merchant hears of a failure with the refund only, so it has heard nothing yet.
    const lines = (completed: Payout) => completedLines(completed);
    await completePayment(trx, payout, news, cause, { lines, tellsMerchant: true });
    return 'completed';
  },
  fail: failPayout,
};

/** Fails an open payout. The refund comes next, and tells the merchant. */
export async function failPayout(
  trx: Transaction,
  payout: Payout,
  news: Failed,
  cause: string,
): Promise<void> {
  await failPayment(trx, payout, news, cause, REFUND_STEP);
}
