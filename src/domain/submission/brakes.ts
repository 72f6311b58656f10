import { firstRow, type Transaction } from '../../connections/database.ts';
import { holdOf, type PayoutHold } from '../merchants/payout-hold.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { IS_OTHER_DATABASE } from '../upkeep/other-database.ts';

/**
 * Tells whether somebody or something keeps a payment from being sent: its channel is paused, the
 * database is not the one before, or the payouts of its merchant are held. Of a payout it locks
 * the merchant: a hold that is being committed comes before the claim, a later one waits for it.
 */
export async function isHeldBack(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  const isPayout = payment.kind === 'payout';
  const found = await firstRow<Parameters<typeof holdOf>[0] & { isStopped: boolean }>(
    trx,
    `SELECT m.active, m.payouts_held, ${IS_OTHER_DATABASE}
       OR EXISTS (SELECT FROM paused_channels WHERE code = :channel) AS "isStopped"
     FROM merchants m WHERE m.id = :merchant_id ${isPayout ? 'FOR KEY SHARE' : ''}`,
    payment,
  );
  const hold: PayoutHold | null = isPayout ? holdOf(found!) : null;
  return found!.isStopped || hold !== null;
}
