import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { queued } from '../../jobs/outbox.ts';
import type { CallbackAddress } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { storableText } from '../storable-text.ts';

/** A request that a gateway sent to a payment's callback address. */
export interface Callback {
  id: string;
  gateway: string;
  merchant_id: number;
  payment_kind: PaymentRef['kind'];
  payment_id: string;
  address: CallbackAddress;
  /** When the question was asked that it answers. Null at other addresses. */
  asked_at: Date | null;
  body: string;
  received_at: Date;
  step_no: number;
}

/** Where a callback came in. */
export interface CallbackPlace extends PaymentRef {
  address?: CallbackAddress;
  askedAt?: Date | null;
}

/** The API takes no longer bodies. */
const MAX_BODY_LENGTH = 65_536;
const MAX_NAME_LENGTH = 50;

/** Stores a genuine callback with its job, whatever it contains. @returns its id. */
export async function storeCallback(
  database: Database,
  gateway: string,
  place: CallbackPlace,
  body: string,
): Promise<string> {
  const id = uuidv7();
  await rows(
    database,
    `WITH moved AS (
       INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, address,
         asked_at, body, next_step, next_step_at, step_no)
       VALUES (:id, :gateway, :merchant_id, :payment_kind, :payment_id, :address,
         :asked_at, :body, 'process', now(), 1)
       RETURNING *
     ), ${queued('callback')}
     SELECT id FROM moved`,
    {
      id,
      gateway,
      merchant_id: place.merchant_id,
      payment_kind: place.kind,
      payment_id: place.id,
      address: place.address ?? 'result',
      asked_at: place.askedAt ?? null,
      body: storableText(body, MAX_BODY_LENGTH),
      queue: queueOf('callback', 'process'),
    },
  );
  return id;
}

/** Stores a request to an address that is not genuine. It never moves anything. */
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

/** Finds a callback that waits. @returns null when it has been processed: the job is stale. */
export async function findStoredCallback(
  database: Database,
  merchant_id: number,
  id: string,
): Promise<Callback | null> {
  const callback = await firstRow<Callback>(
    database,
    `SELECT * FROM callbacks WHERE merchant_id = :merchant_id AND id = :id AND status = 'stored'`,
    { merchant_id, id },
  );
  return callback ?? null;
}

/** Locks the callbacks of a payment that wait, oldest first. Lock the payment before them. */
export async function lockStored(trx: Transaction, payment: PaymentRef): Promise<Callback[]> {
  return rows<Callback>(
    trx,
    `SELECT * FROM callbacks
     WHERE merchant_id = :merchant_id AND payment_id = :id AND payment_kind = :kind
       AND status = 'stored'
     ORDER BY received_at, id FOR UPDATE`,
    payment,
  );
}
