import { rows, type Transaction } from '../../connections/database.ts';
import type { AnyPayment } from '../payments/payment-store.ts';

/** Reads the gateway's references in the acknowledgements of a payment. */
export async function acknowledgedReferences(
  trx: Transaction,
  payment: AnyPayment,
): Promise<string[]> {
  const found = await rows<{ external_ref: string }>(
    trx,
    `SELECT external_ref FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND external_ref IS NOT NULL`,
    payment,
  );
  return found.map(({ external_ref }) => external_ref);
}

/** Records the gateway's reference of an attempt, also of an old one. */
export async function keepReference(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  external_ref: string,
): Promise<void> {
  await rows(
    trx,
    `UPDATE attempts SET external_ref = :external_ref
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND attempt_no = :attempt_no`,
    { ...payment, external_ref, attempt_no: attemptNo },
  );
}
