import { firstRow, type Transaction } from '../../connections/database.ts';
import { holdOf, lockClaims, type PayoutBrakes } from '../merchants/payout-hold.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { IS_OTHER_DATABASE } from '../upkeep/other-database.ts';

/** What keeps a payment from being sent. */
type Brake = 'restored database' | 'paused channel' | 'held payouts';

/**
 * Returns what keeps a payment from being sent, or null. For a payout it locks the claims
 * of its merchant: a hold that is being committed comes before the claim, a later one waits.
 */
export async function brakeOn(
  trx: Transaction,
  payment: AnyPayment,
  allPaused: boolean,
): Promise<Brake | null> {
  if (allPaused) return 'restored database';
  const isPayout = payment.kind === 'payout';
  if (isPayout) await lockClaims(trx, payment, 'claim');
  const found = await firstRow<PayoutBrakes & { isOther: boolean; isPaused: boolean }>(
    trx,
    `SELECT m.active, m.payouts_held, ${IS_OTHER_DATABASE} AS "isOther",
       EXISTS (SELECT FROM paused_channels WHERE code = :channel) AS "isPaused"
     FROM merchants m WHERE m.id = :merchant_id`,
    payment,
  );
  if (found!.isOther) return 'restored database';
  if (found!.isPaused) return 'paused channel';
  return isPayout && holdOf(found!) !== null ? 'held payouts' : null;
}
