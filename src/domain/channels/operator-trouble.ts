import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { MOVED_AT } from '../settlement/sources.ts';
import { storableText } from '../text.ts';
import { pausableOf, pauseChannel } from './channel-store.ts';

/** The payments in a row that must fail by the operator's own trouble to pause the channel. */
const TROUBLES_UNTIL_PAUSE = 3;
/** Older troubles are over, or the operator knows them. */
const COUNTED_HOURS = 24;
const MAX_TROUBLE_LENGTH = 500;
/** Acts for the service in the audit log. */
const SERVICE_ACTOR = 'malipo';

/**
 * Records that a payment failed because of the operator's own trouble with the gateway. The third
 * in a row pauses what it belongs to, so that payments wait in place of failing: payouts, money
 * that goes back to customers, or everything if customers cannot be prompted.
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
  if (!(await isInARow(trx, payment))) return;
  const what = pausableOf(payment.kind);
  if (!(await pauseChannel(trx, payment.channel, what))) return;
  await recordAudit(trx, {
    actor: SERVICE_ACTOR,
    action: 'channel.pause',
    merchant_id: null,
    subject: `channel ${payment.channel}`,
    reason: `${TROUBLES_UNTIL_PAUSE} payments in a row failed by our own trouble: ${trouble}`,
    details: { gateway: payment.gateway, what: what ?? 'all' },
  });
}

/**
 * Tells whether no payment of these kinds has moved money since the third newest trouble of theirs.
 * A gateway's clock may differ from ours, so a movement counts by when it was learned. The first
 * condition on it bounds what is read.
 */
async function isInARow(trx: Transaction, { gateway, kind }: AnyPayment): Promise<boolean> {
  const kinds = kind === 'reversal' || kind === 'return' ? ['reversal', 'return'] : [kind];
  return hasRow(
    trx,
    `SELECT FROM (
       SELECT happened_at FROM operator_troubles
       WHERE gateway = :gateway AND payment_kind = ANY (:kinds)
         AND happened_at > now() - :hours * interval '1 hour'
       ORDER BY happened_at DESC OFFSET :earlier LIMIT 1
     ) first WHERE NOT EXISTS (
       SELECT FROM movements m WHERE m.gateway = :gateway
         AND ${MOVED_AT} > first.happened_at - interval '1 hour'
         AND m.learned_at > first.happened_at AND m.payment_kind = ANY (:kinds))`,
    { gateway, kinds, hours: COUNTED_HOURS, earlier: TROUBLES_UNTIL_PAUSE - 1 },
  );
}

/** The newest troubles that support sees. */
const MAX_SHOWN_TROUBLES = 500;

/** The troubles of a channel that count, and the newest of them. */
export interface ChannelTrouble {
  channel: number;
  /** At most `MAX_SHOWN_TROUBLES` of all channels together. */
  count: number;
  last_trouble: string;
  last_at: Date;
}

/** Reads the troubles of the last hours by channel, until somebody resumes the channel. */
export function readTroubles(database: Database, gateways: string[]): Promise<ChannelTrouble[]> {
  return rows<ChannelTrouble>(
    database,
    `SELECT channel, count(*) AS count, max(happened_at) AS last_at,
       (array_agg(trouble ORDER BY happened_at DESC))[1] AS last_trouble
     FROM (
       SELECT channel, trouble, happened_at FROM operator_troubles
       WHERE gateway = ANY (CAST(:gateways AS text[]))
         AND happened_at > now() - :hours * interval '1 hour'
       ORDER BY happened_at DESC LIMIT :most
     ) AS newest GROUP BY channel`,
    { gateways, hours: COUNTED_HOURS, most: MAX_SHOWN_TROUBLES },
  );
}
