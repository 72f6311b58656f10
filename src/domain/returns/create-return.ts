import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { HOUR_MS } from '../../time.ts';
import { OperatorRefusal } from '../errors.ts';
import type { Collection, Return } from '../payments/kinds.ts';
import { acceptance } from '../payments/transition.ts';
import { type Movement, rebookMovement } from '../settlement/movements.ts';
import { assumeSent, MAY_HAVE_ARRIVED } from '../submission/attempts.ts';
import { isFromBeforeRestore } from '../upkeep/restore-mark.ts';
import { WHY_MAYBE_SENT } from '../upkeep/restore-progress.ts';

/** An open return is overdue after this. */
const RETURN_DEADLINE_MS = 4 * HOUR_MS;

/**
 * Plans the return of a movement in suspense, the whole of it, once per movement. The collection
 * must be locked. If it is older than a restore from a backup, the return may have been sent before
 * the restore, so the gateway is asked first.
 */
export async function createReturn(
  trx: Transaction,
  collection: Collection,
  movement: Movement,
  cause: 'late_success' | 'support' = 'late_success',
): Promise<void> {
  const isMaybeSent = await isFromBeforeRestore(trx, collection);
  await rebookMovement(trx, movement, 'returning');
  const step = isMaybeSent ? 'poll' : 'submit';
  const { merchant_id, channel, gateway } = collection;
  const planned = await firstRow<Return>(trx, INSERT, {
    merchant_id,
    channel,
    gateway,
    cause,
    step,
    id: uuidv7(),
    collection_id: collection.id,
    collection_ref_no: collection.ref_no,
    movement_id: movement.id,
    original_trans_id: movement.trans_id,
    // The phone that paid. It is another one than was asked when somebody else paid.
    account: movement.account ?? collection.payfrom,
    amount_cents: movement.amount_cents,
    deadline_ms: RETURN_DEADLINE_MS,
    queue: isMaybeSent ? null : queueOf('return', 'submit', gateway),
  });
  if (isMaybeSent) await assumeSent(trx, planned!, WHY_MAYBE_SENT);
}

/**
 * The number of the collection's returns takes the place of a reference of the merchant. So a
 * database that was restored from before the return plans it again under the same reference,
 * from whatever source it hears of the money. The gateway pays it once.
 */
const INSERT = acceptance(
  'return',
  `INSERT INTO returns (merchant_id, id, reference, collection_id, movement_id, original_trans_id,
     channel, gateway, account, amount_cents, deadline_at, next_step, next_step_at, step_no)
   SELECT :merchant_id, :id,
     gateway_reference(:merchant_id, 'return', :collection_ref_no || '/' || count(*)),
     :collection_id, :movement_id, :original_trans_id, :channel, :gateway, :account,
     :amount_cents, now() + :deadline_ms * interval '1 millisecond', :step, now(), 1
   FROM returns WHERE merchant_id = :merchant_id AND collection_id = :collection_id`,
  [],
  ':cause',
);

/**
 * Gives the return of a movement its receipt, which was not known when the return was planned, or was a wrong one.
 * @throws OperatorRefusal when the gateway may carry the return out under the wrong one
 */
export async function nameReturnedReceipt(
  trx: Transaction,
  movement: Movement,
  trans_id: string | null,
): Promise<void> {
  if (movement.booked === 'settled' || trans_id === null) return;
  const sent = await firstRow<{ original_trans_id: string }>(
    trx,
    `SELECT original_trans_id FROM returns r
     WHERE ${OF_MOVEMENT} AND status IN ('pending', 'processing') AND EXISTS (
       SELECT FROM attempts a WHERE a.merchant_id = r.merchant_id AND a.payment_kind = 'return'
         AND a.payment_id = r.id AND ${MAY_HAVE_ARRIVED})
       AND upper(original_trans_id) <> upper(:trans_id)`,
    { ...movement, trans_id },
  );
  if (sent) {
    throw new OperatorRefusal(
      `A return has named the receipt ${sent.original_trans_id}: try again when the gateway has said how it ended`,
    );
  }
  await rows(
    trx,
    `UPDATE returns r SET original_trans_id = :trans_id
     WHERE ${OF_MOVEMENT} AND status = 'pending'`,
    { ...movement, trans_id },
  );
}

/** Gives the return of a movement the receipt that was not known when it was planned. */
export async function fillReturnedReceipt(
  trx: Transaction,
  movement: Movement,
  trans_id: string | null,
): Promise<void> {
  if (movement.booked === 'settled' || trans_id === null) return;
  await rows(
    trx,
    `UPDATE returns r SET original_trans_id = :trans_id
     WHERE ${OF_MOVEMENT} AND original_trans_id IS NULL`,
    { ...movement, trans_id },
  );
}

const OF_MOVEMENT = 'merchant_id = :merchant_id AND movement_id = :id';
