import { firstRow, type Transaction } from '../../connections/database.ts';
import { holdOf, type PayoutBrakes } from '../merchants/payout-hold.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { IS_OTHER_DATABASE } from '../upkeep/other-database.ts';

/**
 * Tells whether somebody or something keeps a payment from being sent: its channel is paused, the
 * database is not the one before, or the payouts of its merchant are held. For a payout it
 * locks the merchant: a hold that is being committed comes before the claim, a later one waits.
 */
export async function isHeldBack(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  const isPayout = payment.kind === 'payout';
  const found = await firstRow<PayoutBrakes & { isStopped: boolean }>(
    trx,
    `SELECT m.active, m.payouts_held, ${IS_OTHER_DATABASE}
       OR EXISTS (SELECT FROM paused_channels WHERE code = :channel) AS "isStopped"
     FROM merchants m WHERE m.id = :merchant_id ${isPayout ? 'FOR KEY SHARE' : ''}`,
    payment,
  );
  return found!.isStopped || (isPayout && holdOf(found!) !== null);
}
