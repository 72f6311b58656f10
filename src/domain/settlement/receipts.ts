import { firstRow, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';

/*
 * A receipt belongs to one payment. The primary key of `receipts` says so, for all who ask at the
 * same moment: gateway, direction and receipt.
 */

/** Returns the direction of a kind's money. A gateway may use a receipt once in each. */
export function directionOf(kind: GatewayPaymentKind): 'in' | 'out' {
  return kind === 'collection' ? 'in' : 'out';
}

/**
 * Returns the CTE `claimed`, which claims `:trans_id` for the payment. It has no row when the
 * receipt is null, or belongs to a payment already.
 * @param from is SQL: the CTE that must have a row first, if any.
 */
export function claimed(from = ''): string {
  return `claimed AS (
    INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
    SELECT :gateway, :direction, :trans_id, :merchant_id, :kind, :id ${from}
    WHERE CAST(:trans_id AS text) IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING receipt
  )`;
}

/** Finds the payment that a receipt belongs to. */
export async function ownerOfReceipt(
  trx: Transaction,
  { kind, gateway }: AnyPayment,
  receipt: string,
): Promise<PaymentRef | undefined> {
  return firstRow<PaymentRef>(
    trx,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM receipts
     WHERE gateway = :gateway AND direction = :direction AND receipt = :receipt`,
    { gateway, direction: directionOf(kind), receipt },
  );
}

/** Gives a receipt up, because its payment was undone. Another payment may have it then. */
export async function releaseReceipt(
  trx: Transaction,
  payment: AnyPayment,
  receipt: string | null,
): Promise<void> {
  await firstRow(
    trx,
    `DELETE FROM receipts WHERE gateway = :gateway AND direction = :direction
       AND receipt = :receipt AND merchant_id = :merchant_id AND payment_id = :id`,
    { ...payment, direction: directionOf(payment.kind), receipt },
  );
}
