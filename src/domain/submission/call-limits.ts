import { firstRow, type Transaction } from '../../connections/database.ts';
import { isPausedSql } from '../channels/channel-store.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { IS_OTHER_DATABASE } from '../upkeep/other-database.ts';

/*
 * A call to a gateway begins and ends within LONGEST_CALL_MS of its claim. After that everybody
 * believes that no call is under way: support may fail the payment, and "not found" counts.
 */

/** The bound. Until then a call without an answer may be going on. */
export const LONGEST_CALL_MS = 30_000;
/** An older claim is not called. Its worker was frozen, or waited long for the database. */
export const MAX_CLAIM_AGE_MS = 5_000;
/** The longest time that a call takes to end after its timeout, on a busy machine too. */
const GIVING_UP_MS = 5_000;

/** The longest that `GATEWAY_TIMEOUT_MS` may be, so that all three fit into the bound. */
export const MAX_GATEWAY_TIMEOUT_MS = LONGEST_CALL_MS - MAX_CLAIM_AGE_MS - GIVING_UP_MS;

/** What keeps a payment from being sent. */
type Brake = 'restored database' | 'paused channel' | 'held merchant';

/**
 * Returns SQL for the brake on a row of payments; null: none. For a payout and a reversal it locks
 * the claims of the merchant: a hold that is being committed comes before the claim, a later one waits.
 */
export function brakeOnRow(kind: GatewayPaymentKind, row: string): string {
  const ofKind =
    kind === 'payout' || kind === 'reversal'
      ? `ELSE merchant_brake(${row}.merchant_id, ${row}.channel, '${kind}s')`
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
