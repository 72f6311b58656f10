import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { HOUR_MS } from '../../time.ts';
import type { Collection, Return } from '../payments/kinds.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { acceptance } from '../payments/transition.ts';
import { type Movement, rebookMovement } from '../settlement/movements.ts';
import { HAS_UNSURE_RECEIPT } from '../settlement/sources.ts';
import { assumeSent } from '../submission/attempts.ts';
import { isFromBeforeRestore, WHY_MAYBE_SENT } from '../upkeep/restore-progress.ts';

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
 * Gives the return of a movement the receipt that was not known when it was planned.
 * @param isUnsure says that only people have told the receipt: it waits while another one is in question
 */
export async function fillReturnedReceipt(
  trx: Transaction,
  movement: Movement,
  trans_id: string | null,
  isUnsure = false,
): Promise<void> {
  if (movement.booked === 'settled' || trans_id === null) return;
  await rows(
    trx,
    `UPDATE returns r SET original_trans_id = :trans_id
     WHERE merchant_id = :merchant_id AND movement_id = :id AND original_trans_id IS NULL
       AND (NOT CAST(:isUnsure AS boolean) OR NOT ${HAS_SECOND_RECEIPT})`,
    { ...movement, trans_id, isUnsure },
  );
}

/**
 * Takes the receipt that only people have told from the returns of a collection that are not sent: other money of the
 * collection may be the same under its right receipt. They wait for the decision about that.
 */
export async function withholdReceipts(
  trx: Transaction,
  { merchant_id, id }: PaymentRef,
): Promise<void> {
  await rows(
    trx,
    `UPDATE returns r SET original_trans_id = NULL FROM movements m
     WHERE ${OF_COLLECTION} AND ${HAS_UNSURE_RECEIPT}
       -- A claim changes this, in the same row. One that was not taken goes again.
       AND r.status = 'pending' AND r.next_step = 'submit'`,
    { merchant_id, id },
  );
}

/** Gives the returns of a collection the receipts of their movements again, once nobody asks about them. */
export async function restoreReceipts(
  trx: Transaction,
  { merchant_id, id }: PaymentRef,
): Promise<void> {
  await rows(
    trx,
    `UPDATE returns r SET original_trans_id = m.trans_id FROM movements m
     WHERE ${OF_COLLECTION} AND r.original_trans_id IS NULL AND m.trans_id IS NOT NULL
       AND NOT ${HAS_SECOND_RECEIPT}`,
    { merchant_id, id },
  );
}

/** SQL: somebody must say which receipt the money of the collection has, which the return `r` gives back. */
const HAS_SECOND_RECEIPT = `EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = r.merchant_id
  AND d.payment_kind = 'collection' AND d.payment_id = r.collection_id
  AND d.kind = 'second_success' AND d.resolved_at IS NULL)`;

/** SQL: the return `r` of the movement `m` is of this collection. */
const OF_COLLECTION = `r.merchant_id = :merchant_id AND r.collection_id = :id
  AND m.merchant_id = r.merchant_id AND m.id = r.movement_id`;
