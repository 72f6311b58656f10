import { firstRow, type Transaction } from '../../connections/database.ts';
import { isPausedSql } from '../channels/channel-store.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { IS_OTHER_DATABASE } from '../upkeep/other-database.ts';

/** What keeps a payment from being sent. */
type Brake = 'restored database' | 'paused channel' | 'held payouts';

/**
 * Returns SQL for the brake on a row of payments; null: none. For a payout it locks the claims of
 * its merchant: a hold that is being committed comes before the claim, a later one waits.
 */
export function brakeOnRow(kind: GatewayPaymentKind, row: string): string {
  const ofKind =
    kind === 'payout'
      ? `ELSE payout_brake(${row}.merchant_id, ${row}.channel)`
      : `WHEN ${isPausedSql(kind, `${row}.channel`)} THEN 'paused channel'`;
  return `CASE WHEN ${IS_OTHER_DATABASE} THEN 'restored database' ${ofKind} END`;
}

/** Returns what keeps a payment from being sent, or null. */
export async function brakeOn(
  trx: Transaction,
  payment: AnyPayment,
  allPaused: boolean,
): Promise<Brake | null> {
  if (allPaused) return 'restored database';
  const found = await firstRow<{ brake: Brake | null }>(
    trx,
    `SELECT ${brakeOnRow(payment.kind, 't')} AS brake
     FROM (SELECT CAST(:merchant_id AS bigint) AS merchant_id, CAST(:channel AS integer) AS channel) t`,
    payment,
  );
  return found!.brake;
}
