import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { pollingQueue, returnsQueue } from '../../jobs/job-types.ts';
import type { Collection } from '../payments/collection.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import type { Return } from '../payments/return.ts';
import type { Movement } from '../settlement/movements.ts';
import { assumeSent } from '../submission/attempts.ts';
import { isFromBeforeRestore, WHY_MAYBE_SENT } from '../upkeep/last-mark.ts';

/** When an open return counts as overdue. */
const RETURN_DEADLINE_MS = 4 * 3_600_000;
const UUID_BYTES = 16;

/**
 * Plans the return of a late movement, once per movement. The whole movement goes back. The
 * collection must be locked. If it is older than a restore from a backup, the return may have
 * been sent before that: its gateway is asked first.
 */
export async function createReturn(
  trx: Transaction,
  collection: Collection,
  movement: Movement,
  cause: 'late_success' | 'support' = 'late_success',
): Promise<void> {
  const isMaybeSent = await isFromBeforeRestore(trx, collection);
  const { gateway } = collection;
  const planned = await firstRow<Return>(
    trx,
    `WITH moved AS (
       INSERT INTO returns (merchant_id, id, collection_id, movement_id, original_trans_id,
         channel, gateway, account, amount_cents, deadline_at, next_step, next_step_at, step_no)
       VALUES (:merchant_id, :id, :collection_id, :movement_id, :original_trans_id,
         :channel, :gateway, :account, :amount_cents, now() + :deadline_ms * interval '1 millisecond',
         :step, now(), 1)
       RETURNING *
     ), queued AS (
       INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
       SELECT :queue, 'return', next_step, merchant_id, id, step_no, next_step_at FROM moved
     ), noted AS (
       INSERT INTO payment_history
         (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
       SELECT merchant_id, 'return', id, NULL, status, :cause FROM moved
     )
     SELECT ${paymentColumns('moved')}, 'return' AS kind FROM moved`,
    {
      merchant_id: collection.merchant_id,
      id: await nextIdOf(trx, collection),
      collection_id: collection.id,
      movement_id: movement.id,
      original_trans_id: movement.trans_id,
      channel: collection.channel,
      gateway,
      // Whoever paid; with another phone that is not the one that was asked.
      account: movement.account ?? collection.payfrom,
      amount_cents: movement.amount_cents,
      deadline_ms: RETURN_DEADLINE_MS,
      cause,
      step: isMaybeSent ? 'poll' : 'submit',
      queue: isMaybeSent ? pollingQueue(gateway) : returnsQueue(gateway),
    },
  );
  if (isMaybeSent) await assumeSent(trx, planned!, WHY_MAYBE_SENT);
}

/**
 * Made of the collection and of how many returns it has, and so the same again in a database
 * that was restored from before the return was planned, whoever tells of the money then and
 * how: the gateway, which has it by this reference, pays it once.
 */
async function nextIdOf(trx: Transaction, { merchant_id, id, created_at }: Collection) {
  const planned = await firstRow<{ count: number }>(
    trx,
    `SELECT count(*) FROM returns
     WHERE merchant_id = :merchant_id AND collection_id = :collection_id`,
    { merchant_id, collection_id: id },
  );
  const digest = createHash('sha256').update(`${id} ${planned!.count}`).digest();
  return uuidv7({ msecs: created_at.getTime(), random: digest.subarray(0, UUID_BYTES) });
}

/** Tells the return of a movement the receipt that was not known when it was planned. */
export async function fillReturnedReceipt(
  trx: Transaction,
  { merchant_id }: { merchant_id: number },
  movement: Movement,
  transId: string | null,
): Promise<void> {
  if (movement.booked === 'settled' || transId === null) return;
  await rows(
    trx,
    `UPDATE returns SET original_trans_id = :trans_id
     WHERE merchant_id = :merchant_id AND movement_id = :movement_id AND original_trans_id IS NULL`,
    { merchant_id, movement_id: movement.id, trans_id: transId },
  );
}
