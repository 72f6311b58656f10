import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../payments/payment-store.ts';
import { pollNow } from '../payments/schedule.ts';
import { assumeSent } from '../submission/attempts.ts';
import { WHY_MAYBE_SENT } from './last-mark.ts';

/** Payments that one transaction marks. */
export const MARK_BATCH_SIZE = 200;

/** The last payment of a batch. */
export interface Marker {
  merchant_id: number;
  id: string;
}

export interface MarkedBatch {
  marked: number;
  /** Of these, those that stay parked. */
  parked: number;
  /** Where the next batch begins; null when this was the last. */
  last: Marker | null;
}

/**
 * Treats the open payments of a kind, a batch at a time, as sent since the backup that this
 * database was restored from: none goes to its gateway before that has been asked about it,
 * and each is asked about at once. May be run again at any time before payments go on.
 */
export async function markRestored(
  trx: Transaction,
  kind: GatewayPaymentKind,
  after: Marker | null,
): Promise<MarkedBatch> {
  const open = await openPayments(trx, kind, after);
  let [marked, parked] = [0, 0];
  for (const { merchant_id: merchantId, id } of open) {
    const payment = await lockPayment(trx, { kind, merchant_id: merchantId, id });
    if (payment?.status !== 'pending' && payment?.status !== 'processing') continue;
    await markPayment(trx, payment);
    marked += 1;
    if (payment.parked_reason !== null) parked += 1;
  }
  return { marked, parked, last: open.length < MARK_BATCH_SIZE ? null : open.at(-1)! };
}

/** What the gateway has acknowledged is never sent again. What a person must decide stays so. */
async function markPayment(trx: Transaction, payment: AnyPayment): Promise<void> {
  if (payment.status === 'pending') await assumeSent(trx, payment, WHY_MAYBE_SENT);
  if (payment.parked_reason === null) await changeStep(trx, refOf(payment), pollNow(payment));
}

/** First from the index of open payments: in the order of the key the whole table would be read. */
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
    {
      merchant_id: after?.merchant_id ?? 0,
      id: after?.id ?? '00000000-0000-0000-0000-000000000000',
      batch: MARK_BATCH_SIZE,
    },
  );
}
