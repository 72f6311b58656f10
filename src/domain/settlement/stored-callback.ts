import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { CALLBACKS_QUEUE } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy, supersedeUnknownMovement } from '../discrepancies/discrepancy.ts';
import type { ParsedCallback, Succeeded } from '../gateway-results.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { storableText } from '../storable-text.ts';
import { type Settlement, settle } from './settle.ts';

/** What a gateway sent to a payment's callback address, as it came. */
export interface Callback {
  id: string;
  gateway: string;
  merchant_id: number;
  payment_kind: PaymentRef['kind'];
  payment_id: string;
  body: string;
  received_at: Date;
  step_no: number;
}

/** A callback is kept whatever it contains; what is longer than the API takes never gets here. */
const MAX_BODY_LENGTH = 65_536;
const MAX_NAME_LENGTH = 50;

/** Stores a genuine callback with its job, before it is answered. @returns its id. */
export async function storeCallback(
  database: Database,
  gateway: string,
  payment: PaymentRef,
  body: string,
): Promise<string> {
  const id = uuidv7();
  await rows(
    database,
    `WITH stored AS (
       INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, body,
         next_step, next_step_at, step_no)
       VALUES (:id, :gateway, :merchant_id, :payment_kind, :payment_id, :body,
         'process', now(), 1)
       RETURNING *
     )
     INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
     SELECT :queue, 'callback', next_step, merchant_id, id, step_no, next_step_at FROM stored`,
    {
      id,
      gateway,
      merchant_id: payment.merchant_id,
      payment_kind: payment.kind,
      payment_id: payment.id,
      body: storableText(body, MAX_BODY_LENGTH),
      queue: CALLBACKS_QUEUE,
    },
  );
  return id;
}

/** Keeps what came to an address that is not genuine. It will never move anything. */
export async function storeRejectedCallback(
  database: Database,
  gateway: string,
  body: string,
  problem: string,
): Promise<void> {
  await rows(
    database,
    `INSERT INTO callbacks (id, gateway, body, status, problem)
     VALUES (:id, :gateway, :body, 'rejected', :problem)`,
    {
      id: uuidv7(),
      gateway: storableText(gateway, MAX_NAME_LENGTH),
      body: storableText(body, MAX_BODY_LENGTH),
      problem,
    },
  );
}

/** @returns null when this job has been overtaken: the callback has been processed. */
export async function findStoredCallback(
  database: Database,
  merchantId: number,
  id: string,
): Promise<Callback | null> {
  const callback = await firstRow<Callback>(
    database,
    `SELECT * FROM callbacks WHERE merchant_id = :merchant_id AND id = :id AND status = 'stored'`,
    { merchant_id: merchantId, id },
  );
  return callback ?? null;
}

/** Reads a callback's body as the gateway's driver does; null when it can make nothing of it. */
export type ParseCallback = (body: string) => ParsedCallback | null;

export type CallbackResult = Settlement | 'ignored' | 'rejected';

/**
 * Applies a stored callback to its payment, once. Older ones of the same payment that
 * still wait are applied before it: a failure and the success after it, which a queue may
 * hand out in any order, must not change places.
 * @returns what it came to.
 */
export async function processCallback(
  database: Database,
  callback: Callback,
  parse: ParseCallback,
): Promise<CallbackResult> {
  return inTransaction(database, async (trx) => {
    // The payment's lock comes first, so two jobs for one payment take turns.
    await lockPayment(trx, refOfCallback(callback));
    let result: CallbackResult = 'ignored';
    for (const waiting of await lockStoredUpTo(trx, callback)) {
      result = await apply(trx, waiting, parse(waiting.body));
    }
    return result;
  });
}

async function lockStoredUpTo(trx: Transaction, callback: Callback): Promise<Callback[]> {
  return rows<Callback>(
    trx,
    `SELECT * FROM callbacks
     WHERE merchant_id = :merchant_id AND payment_id = :payment_id AND payment_kind = :payment_kind
       AND gateway = :gateway AND status = 'stored'
       AND (received_at, id) <= (
         SELECT received_at, id FROM callbacks WHERE merchant_id = :merchant_id AND id = :id)
     ORDER BY received_at, id FOR UPDATE`,
    {
      merchant_id: callback.merchant_id,
      payment_id: callback.payment_id,
      payment_kind: callback.payment_kind,
      gateway: callback.gateway,
      id: callback.id,
    },
  );
}

async function apply(
  trx: Transaction,
  callback: Callback,
  content: ParsedCallback | null,
): Promise<CallbackResult> {
  const ref = refOfCallback(callback);
  if (!content) return reject(trx, callback, 'the body is not one of this gateway');
  const payment = await lockPayment(trx, ref);
  if (!payment) {
    // Without money there is nothing to decide; and it would be in the way of later news.
    if (content.verdict.outcome === 'succeeded') {
      await reportUnknownPayment(trx, callback, content.verdict);
    }
    return reject(trx, callback, 'the payment is not known here');
  }
  if (content.reference !== null && content.reference !== payment.id) {
    await openDiscrepancy(trx, {
      kind: 'other_payment',
      payment: ref,
      details: evidence(callback),
    });
    return reject(trx, callback, 'it names another payment than its address');
  }
  const settlement =
    content.verdict.outcome === 'pending'
      ? 'ignored'
      : await settle(trx, payment, content.verdict, 'callback', callback.received_at);
  const problem = settlement === 'discrepancy' ? 'it contradicts the payment' : null;
  await finish(trx, callback, 'processed', problem);
  return settlement;
}

/** After a restore it may be all that is left of a payment, so it says what has moved. */
async function reportUnknownPayment(
  trx: Transaction,
  callback: Callback,
  news: Succeeded,
): Promise<void> {
  const isNews = await openDiscrepancy(trx, {
    kind: 'unknown_payment',
    payment: refOfCallback(callback),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    details: {
      ...evidence(callback),
      outcome: news.outcome,
      account: news.account,
      completed_at: news.completedAt?.toISOString() ?? null,
    },
  });
  if (isNews) await supersedeUnknownMovement(trx, callback.payment_id, news.transId);
}

function refOfCallback(callback: Callback): PaymentRef {
  return {
    kind: callback.payment_kind,
    merchant_id: callback.merchant_id,
    id: callback.payment_id,
  };
}

function evidence(callback: Callback): Record<string, unknown> {
  return { callback_id: callback.id, gateway: callback.gateway };
}

async function reject(trx: Transaction, callback: Callback, problem: string): Promise<'rejected'> {
  await finish(trx, callback, 'rejected', problem);
  return 'rejected';
}

async function finish(
  trx: Transaction,
  callback: Callback,
  status: 'processed' | 'rejected',
  problem: string | null,
): Promise<void> {
  await changeStep(
    trx,
    { kind: 'callback', merchant_id: callback.merchant_id, id: callback.id },
    'none',
    { set: { status, problem } },
  );
}
