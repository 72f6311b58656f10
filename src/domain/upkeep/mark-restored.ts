import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../payments/payment-store.ts';
import { POLL_NOW } from '../payments/schedule.ts';
import { assumeSent } from '../submission/attempts.ts';
import { doubtUntaken, isParkedUntaken } from '../submission/record-submission.ts';
import { WHY_MAYBE_SENT } from './restore-mark.ts';

/** The number of payments that one transaction marks. */
export const MARK_BATCH_SIZE = 200;

/** Names the last payment of a batch. */
export interface Marker {
  merchant_id: number;
  id: string;
}

const BEFORE_ALL: Marker = { merchant_id: 0, id: '00000000-0000-0000-0000-000000000000' };

export interface MarkedBatch {
  marked: number;
  /** The number of marked payments that stay parked. */
  parked: number;
  /** The next batch begins after this payment; null after the last batch. */
  last: Marker | null;
}

/**
 * Marks a batch of the open payments of a kind after a restore from a backup. Each is treated as
 * sent since the backup: the gateway is asked about it at once, and it is not sent before the
 * gateway has answered. This may run again at any time before payments go on.
 */
export async function markRestored(
  trx: Transaction,
  kind: GatewayPaymentKind,
  after: Marker | null,
): Promise<MarkedBatch> {
  const open = await openPayments(trx, kind, after);
  let [marked, parked] = [0, 0];
  for (const ref of open) {
    const payment = await lockPayment(trx, { kind, ...ref });
    if (payment?.status !== 'pending' && payment?.status !== 'processing') continue;
    if (await markPayment(trx, payment)) parked += 1;
    marked += 1;
  }
  return { marked, parked, last: open.length < MARK_BATCH_SIZE ? null : open.at(-1)! };
}

/**
 * Marks a payment. An acknowledged one is never sent again anyway. A parked one still needs its
 * decision, unless it is parked because it was never sent.
 * @returns whether it stays parked.
 */
async function markPayment(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  if (payment.status === 'pending') await assumeSent(trx, payment, WHY_MAYBE_SENT);
  const isUntaken = isParkedUntaken(payment);
  if (payment.parked_reason !== null && !isUntaken) return true;
  if (isUntaken) await doubtUntaken(trx, payment);
  await changeStep(trx, refOf(payment), POLL_NOW);
  return false;
}

/** Reads the index of open payments first. In the order of the key it would read the table. */
async function openPayments(
  trx: Transaction,
  kind: GatewayPaymentKind,
  after: Marker | null,
): Promise<Marker[]> {
  return rows<Marker>(
    trx,
    `WITH open AS MATERIALIZED (
       SELECT merchant_id, id FROM ${STEP_TABLES[kind].table}
       WHERE status IN ('pending', 'processing')
     )
     SELECT merchant_id, id FROM open
     WHERE (merchant_id, id) > (CAST(:merchant_id AS bigint), CAST(:id AS uuid))
     ORDER BY merchant_id, id LIMIT :batch`,
    { ...(after ?? BEFORE_ALL), batch: MARK_BATCH_SIZE },
  );
}
