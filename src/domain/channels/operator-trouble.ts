import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { recordAudit } from '../audit.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { storableText } from '../storable-text.ts';
import { pauseChannel } from './channel-store.ts';

/** So many payments in a row that fail by the operator's own trouble pause the channel. */
export const TROUBLES_UNTIL_PAUSE = 3;
const MAX_TROUBLE_LENGTH = 500;
/** Acts for the service in the audit log. */
const SERVICE_ACTOR = 'malipo';

/**
 * Records that a payment failed because of the operator's own trouble with the gateway. The third
 * in a row pauses the channel, so that merchants' payments wait in place of failing: money that
 * goes out, or everything if collections cannot be requested.
 */
export async function recordOperatorTrouble(
  trx: Transaction,
  payment: AnyPayment,
  trouble: string,
): Promise<void> {
  await rows(
    trx,
    `INSERT INTO operator_troubles
       (channel, gateway, merchant_id, payment_kind, payment_id, trouble)
     VALUES (:channel, :gateway, :merchant_id, :kind, :id, :trouble) ON CONFLICT DO NOTHING`,
    { ...payment, trouble: storableText(trouble, MAX_TROUBLE_LENGTH) },
  );
  if ((await countInARow(trx, payment)) < TROUBLES_UNTIL_PAUSE) return;
  const payoutsOnly = payment.kind !== 'collection';
  if (!(await pauseChannel(trx, payment.channel, payoutsOnly))) return;
  await recordAudit(trx, {
    actor: SERVICE_ACTOR,
    action: 'channel.pause',
    merchant_id: null,
    subject: `channel ${payment.channel}`,
    reason: `${TROUBLES_UNTIL_PAUSE} payments in a row failed by our own trouble: ${trouble}`,
    details: { gateway: payment.gateway, payouts_only: payoutsOnly },
  });
}

/** Counts the troubles of the same direction since money last moved that way. */
async function countInARow(trx: Transaction, { gateway, kind }: AnyPayment): Promise<number> {
  const row = await firstRow<{ count: number }>(
    trx,
    `SELECT count(*) AS count FROM operator_troubles
     WHERE gateway = :gateway AND (payment_kind = 'collection') = (:kind = 'collection')
       AND happened_at > coalesce((
         SELECT learned_at FROM movements
         WHERE gateway = :gateway AND (payment_kind = 'collection') = (:kind = 'collection')
         ORDER BY coalesce(completed_at, learned_at) DESC LIMIT 1), '-infinity')`,
    { gateway, kind },
  );
  return row!.count;
}
