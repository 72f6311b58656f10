import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { CallbackAddress } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';

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
