import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inOneTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { isOutage, violates } from '../../connections/database-errors.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { HOUR_MS } from '../../time.ts';
import { ASKER_COLUMNS, ASKER_VALUES, type Asker } from '../access/asker.ts';
import { addressRefused } from '../access/require-access.ts';
import { isOnList } from '../address.ts';
import { isPausedSql } from '../channels/channel-store.ts';
import { Refusal } from '../errors.ts';
import type { Collection, Reversal } from '../payments/kinds.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import { acceptance } from '../payments/transition.ts';
import { MAY_HAVE_ARRIVED } from '../submission/attempts.ts';

export interface NewReversal extends Asker {
  merchant_id: number;
  /** The app of the token. Null books the reversal on the collection's own app. */
  app_code: number | null;
  /** The app that the request names; null if it names none. */
  named_app: number | null;
  /** The collection's reference. */
  checkout_ref_no: string;
  /** The amount that the merchant says; null if it says none. */
  amount_cents: number | null;
  ref_no: string;
  reason: string | null;
  callback_url: string;
}

/** An open reversal is overdue after this. */
const REVERSAL_DEADLINE_MS = 4 * HOUR_MS;

/**
 * Accepts a reversal of a whole collection: records it with its history and first job. Locks
 * the collection first, so reversals of it, and news of them, take turns. An index allows one
 * reversal of a collection that is open or done. The list of addresses of the app that it is booked
 * on holds: of the token's app it was checked with the token.
 * @param takePlace is called once only the database can refuse the request. What it throws refuses it,
 * too
 * @throws Refusal `transaction_not_found`, `ip_not_allowed`, `invalid_field` (another app),
 * `amount_not_of_collection`, `collection_not_completed`, `reversal_done`, `reversal_in_progress`,
 * `duplicate_ref_no`, `channel_paused`
 */
export async function createReversal(
  database: Database | Transaction,
  request: NewReversal,
  takePlace: () => void = () => {},
): Promise<Reversal> {
  return inOneTransaction(database, async (trx) => {
    const collection = await firstRow<Collection & { ip_allowed: boolean }>(trx, LOCK_COLLECTION, {
      ...request,
      ip: request.asked_ip,
    });
    if (!collection) throw new Refusal('transaction_not_found', 'checkout_ref_no');
    if (request.app_code === null && !collection.ip_allowed) {
      const { merchant_id, asked_user: user_id, asked_family: family } = request;
      throw addressRefused({ merchant_id, app_code: collection.app_code, user_id, family });
    }
    refuseOther(request, collection);
    if (collection.status !== 'completed') throw new Refusal('collection_not_completed');
    // A separate statement sees what others committed while this one waited for the lock.
    await refuseSecond(trx, request, collection);
    takePlace();
    return insert(trx, request, collection);
  });
}

/** Refuses a request that names another app or amount than the reversal would have. */
function refuseOther(request: NewReversal, collection: Collection): void {
  const app_code = request.app_code ?? collection.app_code;
  const { amount_cents } = collection;
  if ((request.named_app ?? app_code) !== app_code) throw new Refusal('invalid_field', 'app_code');
  if ((request.amount_cents ?? amount_cents) !== amount_cents) {
    throw new Refusal('amount_not_of_collection', 'amount');
  }
}

const LOCK_COLLECTION = `
  SELECT ${paymentColumns('collection', 'collections')},
    (SELECT ${isOnList('a.ip_allow_list')} FROM apps a
     WHERE a.merchant_id = collections.merchant_id AND a.code = collections.app_code) AS ip_allowed
  FROM collections
  WHERE merchant_id = :merchant_id AND ref_no = :checkout_ref_no FOR NO KEY UPDATE`;

/** Names the reason for the merchant. The indexes are what prevents a second reversal. */
async function refuseSecond(trx: Transaction, request: NewReversal, collection: Collection) {
  const first = await firstRow<{ ref_no: string | null; status: Reversal['status'] }>(
    trx,
    `SELECT ref_no, status FROM (
     SELECT ref_no, status FROM reversals r
     WHERE merchant_id = :merchant_id
       AND (ref_no = :ref_no OR (collection_id = :collection_id
         -- Money of a failed reversal may still have moved, or not have come back yet.
         AND (status <> 'failed' OR EXISTS (SELECT FROM movements m
           WHERE m.merchant_id = r.merchant_id AND m.payment_kind = 'reversal'
             AND m.payment_id = r.id AND m.booked IN ('suspense', 'undoing'))
           -- Something else may say that one which failed here has given the money back.
           OR EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = r.merchant_id
             AND d.payment_kind = 'reversal' AND d.payment_id = r.id
             AND d.resolved_at IS NULL))))
     UNION ALL
     -- The gateway says that the money has gone back. Reversed too, its loss could not be booked.
     SELECT NULL, NULL FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_id = :collection_id
       AND payment_kind = 'collection' AND kind = 'failure_after_success' AND resolved_at IS NULL
     ) AS obstacles ORDER BY ref_no = :ref_no DESC NULLS LAST LIMIT 1`,
    { ...request, collection_id: collection.id },
  );
  if (!first) return;
  if (first.ref_no === null) throw new Refusal('collection_not_completed');
  if (first.ref_no === request.ref_no) throw new Refusal('duplicate_ref_no');
  throw new Refusal(first.status === 'completed' ? 'reversal_done' : 'reversal_in_progress');
}

async function insert(trx: Transaction, request: NewReversal, collection: Collection) {
  try {
    const reversal = await firstRow<Reversal>(trx, INSERT, {
      ...request,
      id: uuidv7(),
      app_code: request.app_code ?? collection.app_code,
      collection_id: collection.id,
      deadline_ms: REVERSAL_DEADLINE_MS,
      queue: queueOf('reversal', 'submit', collection.gateway),
    });
    // The collection is locked and there, so the channel is the only reason.
    if (!reversal) throw new Refusal('channel_paused');
    return reversal;
  } catch (error) {
    // The reference at the gateway is made of the ref_no. PostgreSQL names either.
    if (violates(error, 'reversals_ref_no_unique', 'reversals_reference_unique')) {
      throw new Refusal('duplicate_ref_no');
    }
    if (violates(error, 'reversals_one_open_or_done')) throw new Refusal('reversal_in_progress');
    throw error;
  }
}

const INSERT = acceptance(
  'reversal',
  `INSERT INTO reversals (merchant_id, id, app_code, collection_id, checkout_ref_no,
     original_trans_id, channel, gateway, account, amount_cents, commission_cents, ref_no,
     reference, reason, callback_url, deadline_at, next_step, next_step_at, step_no,
     ${ASKER_COLUMNS})
   SELECT merchant_id, :id, :app_code, id, ref_no, trans_id, channel, gateway,
     -- The money goes back to the phone that paid, if the gateway named it.
     coalesce((SELECT m.account FROM movements m WHERE m.merchant_id = c.merchant_id
       AND m.payment_kind = 'collection' AND m.payment_id = c.id AND m.booked = 'settled'
       LIMIT 1), payfrom),
     amount_cents, commission_cents, :ref_no, gateway_reference(merchant_id, 'reversal', :ref_no),
     :reason, :callback_url,
     now() + :deadline_ms * interval '1 millisecond', 'submit', now(), 1,
     ${ASKER_VALUES}
   FROM collections c WHERE merchant_id = :merchant_id AND id = :collection_id
     AND NOT ${isPausedSql('reversal', 'channel')}`,
);

/** A reversal by the name that its merchant gave it. */
export type ReversalName = Pick<Reversal, 'merchant_id' | 'ref_no'>;

/** The pauses before each look at the row. The last one repeats. */
const LOOK_AFTER_MS = [50, 50, 100, 100, 200, 300, 500];

/**
 * Waits until a committed reversal was sent: acknowledged or ended, or not to be sent yet
 * because the collection's receipt is missing or its merchant is held. Holds no connection between
 * two looks.
 * @returns null when that did not come within `waitMs`, or `signal` says that the caller has
 * gone. The submission goes on.
 */
export async function awaitAcceptance(
  database: Database,
  name: ReversalName,
  waitMs: number,
  signal: AbortSignal,
): Promise<Reversal | null> {
  const endsAt = performance.now() + waitMs;
  for (let look = 0; !signal.aborted; look += 1) {
    const reversal = await lookAt(database, name).catch((error) => {
      // The reversal is recorded, so a short outage of the database is no refusal of it.
      if (isOutage(error)) return undefined;
      throw error;
    });
    if (reversal) return reversal;
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) return null;
    const pauseMs = LOOK_AFTER_MS[Math.min(look, LOOK_AFTER_MS.length - 1)]!;
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => {});
  }
  return null;
}

/** Reads the reversal if it is worth an answer: it was sent, or it waits for something. */
async function lookAt(database: Database, name: ReversalName): Promise<Reversal | undefined> {
  return firstRow<Reversal>(
    database,
    `SELECT ${paymentColumns('reversal', 'r')} FROM reversals r
     JOIN merchants m ON m.id = r.merchant_id
     WHERE r.merchant_id = :merchant_id AND r.ref_no = :ref_no
       AND (r.status <> 'pending' OR r.original_trans_id IS NULL
         -- A call that is going on is awaited.
         OR (m.payouts_held OR NOT m.active) AND NOT EXISTS (
           SELECT FROM attempts a WHERE a.merchant_id = r.merchant_id
             AND a.payment_kind = 'reversal' AND a.payment_id = r.id AND ${MAY_HAVE_ARRIVED}))`,
    name,
  );
}

/** Finds a merchant's reversal by its reference. */
export async function findReversal(
  database: Database,
  name: ReversalName,
): Promise<Reversal | undefined> {
  return firstRow<Reversal>(
    database,
    `SELECT ${paymentColumns('reversal', 'reversals')} FROM reversals
     WHERE merchant_id = :merchant_id AND ref_no = :ref_no`,
    name,
  );
}
