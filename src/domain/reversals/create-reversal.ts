import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inOneTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { reversalsQueue } from '../../jobs/job-types.ts';
import { Refusal } from '../errors.ts';
import type { Collection } from '../payments/collection.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import type { Reversal } from '../payments/reversal.ts';

export interface NewReversal {
  merchant_id: number;
  /** The app of the token; null books it on the collection's own. */
  app_code: number | null;
  /** The reference of the collection. */
  checkout_ref_no: string;
  ref_no: string;
  reason: string | null;
  callback_url: string;
}

/** When an open reversal counts as overdue. */
const REVERSAL_DEADLINE_MS = 4 * 3_600_000;

/**
 * Records a reversal of a whole collection, with its history and first job. The
 * collection's row is locked first, so reversals of it, and news of them, take turns; an
 * index lets one of them be open or done.
 * @throws Refusal `transaction_not_found`, `collection_not_completed`, `reversal_done`,
 * `reversal_in_progress`, `duplicate_reference`, `channel_paused`
 */
export async function createReversal(
  database: Database | Transaction,
  request: NewReversal,
): Promise<Reversal> {
  return inOneTransaction(database, async (trx) => {
    const collection = await lockOriginal(trx, request);
    if (!collection) throw new Refusal('transaction_not_found');
    if (collection.status !== 'completed') throw new Refusal('collection_not_completed');
    // A statement of its own, so that it sees what was committed while the lock was awaited.
    await refuseSecond(trx, request, collection);
    return insert(trx, request, collection);
  });
}

async function lockOriginal(
  trx: Transaction,
  { merchant_id: merchantId, checkout_ref_no: checkoutRefNo }: NewReversal,
): Promise<Collection | undefined> {
  return firstRow<Collection>(
    trx,
    `SELECT ${paymentColumns('collections')} FROM collections WHERE merchant_id = :merchant_id AND ref_no = :ref_no
     FOR NO KEY UPDATE`,
    { merchant_id: merchantId, ref_no: checkoutRefNo },
  );
}

async function insert(
  trx: Transaction,
  request: NewReversal,
  collection: Collection,
): Promise<Reversal> {
  try {
    const reversal = await firstRow<Reversal>(trx, INSERT, bindingsOf(request, collection));
    // The collection is locked and there, so this is the only reason.
    if (!reversal) throw new Refusal('channel_paused');
    return { ...reversal, kind: 'reversal' };
  } catch (error) {
    if (violates(error, 'reversals_ref_no_unique')) throw new Refusal('duplicate_reference');
    if (violates(error, 'reversals_one_open_or_done')) throw new Refusal('reversal_in_progress');
    throw error;
  }
}

/** Says which of the three it is; that there is no second one is what the indexes are for. */
async function refuseSecond(
  trx: Transaction,
  { merchant_id: merchantId, ref_no: refNo }: NewReversal,
  collection: Collection,
): Promise<void> {
  const first = await firstRow<{ ref_no: string; status: Reversal['status'] }>(
    trx,
    `SELECT ref_no, status FROM reversals r
     WHERE merchant_id = :merchant_id
       AND (ref_no = :ref_no OR (collection_id = :collection_id
         -- Of a failed one money may have moved all the same, about which support decides.
         AND (status <> 'failed' OR EXISTS (SELECT FROM movements m
           WHERE m.merchant_id = r.merchant_id AND m.payment_kind = 'reversal'
             AND m.payment_id = r.id AND m.booked = 'suspense'))))
     ORDER BY ref_no = :ref_no DESC LIMIT 1`,
    { merchant_id: merchantId, ref_no: refNo, collection_id: collection.id },
  );
  if (!first) return;
  if (first.ref_no === refNo) throw new Refusal('duplicate_reference');
  throw new Refusal(first.status === 'completed' ? 'reversal_done' : 'reversal_in_progress');
}

const INSERT = `
  WITH moved AS (
    INSERT INTO reversals (merchant_id, id, app_code, collection_id, checkout_ref_no,
      original_trans_id, channel, gateway, account, amount_cents, commission_cents, ref_no, reason,
      callback_url, deadline_at, next_step, next_step_at, step_no)
    SELECT merchant_id, :id, :app_code, id, ref_no, trans_id, channel, gateway,
      -- Whoever paid, where the gateway says so, gets it back.
      coalesce((SELECT m.account FROM movements m WHERE m.merchant_id = c.merchant_id
        AND m.payment_kind = 'collection' AND m.payment_id = c.id AND m.booked = 'settled'
        LIMIT 1), payfrom),
      amount_cents, commission_cents, :ref_no, :reason, :callback_url,
      now() + :deadline_ms * interval '1 millisecond', 'submit', now(), 1
    FROM collections c WHERE merchant_id = :merchant_id AND id = :collection_id
      AND NOT EXISTS (SELECT FROM paused_channels p WHERE p.code = channel)
    RETURNING *
  ), queued AS (
    INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
    SELECT :queue, 'reversal', next_step, merchant_id, id, step_no, next_step_at FROM moved
  ), remembered AS (
    INSERT INTO payment_history
      (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
    SELECT merchant_id, 'reversal', id, NULL, status, 'api' FROM moved
  )
  SELECT ${paymentColumns('moved')} FROM moved`;

function bindingsOf(request: NewReversal, collection: Collection): Record<string, unknown> {
  return {
    merchant_id: request.merchant_id,
    id: uuidv7(),
    app_code: request.app_code ?? collection.app_code,
    collection_id: collection.id,
    ref_no: request.ref_no,
    reason: request.reason,
    callback_url: request.callback_url,
    deadline_ms: REVERSAL_DEADLINE_MS,
    queue: reversalsQueue(collection.gateway),
  };
}
