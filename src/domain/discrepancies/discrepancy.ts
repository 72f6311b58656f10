import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../../database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';

/**
 * - other_amount, other_account: the gateway moved something else than was asked for.
 * - second_success: two receipts for one payment.
 * - failure_after_success: the gateway takes back a success.
 * - return_failed: money of a late collection could not be given back.
 * - other_payment: a callback names another payment than its address.
 * - unknown_payment: a genuine callback for a payment that is not here.
 */
export type DiscrepancyKind =
  | 'other_amount'
  | 'other_account'
  | 'second_success'
  | 'failure_after_success'
  | 'return_failed'
  | 'other_payment'
  | 'unknown_payment';

export interface NewDiscrepancy {
  kind: DiscrepancyKind;
  payment: PaymentRef;
  transId?: string | null;
  amountCents?: number | null;
  /** What support needs to decide, in the gateway's words. */
  details: Record<string, unknown>;
}

/** Takes a finding off the support list because later news has settled it. */
export async function resolveDiscrepancy(
  trx: Transaction,
  kind: DiscrepancyKind,
  payment: PaymentRef,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now()
     WHERE merchant_id = :merchant_id AND payment_kind = :payment_kind
       AND payment_id = :payment_id AND kind = :kind AND resolved_at IS NULL`,
    {
      merchant_id: payment.merchantId,
      payment_kind: payment.kind,
      payment_id: payment.id,
      kind,
    },
  );
}

/** Puts something that does not add up on the support list. The same finding again changes nothing. */
export async function openDiscrepancy(
  trx: Transaction,
  { kind, payment, transId = null, amountCents = null, details }: NewDiscrepancy,
): Promise<void> {
  await rows(
    trx,
    `INSERT INTO discrepancies
       (id, merchant_id, kind, payment_kind, payment_id, trans_id, amount_cents, details)
     VALUES (:id, :merchant_id, :kind, :payment_kind, :payment_id, :trans_id, :amount_cents,
       CAST(:details AS jsonb))
     ON CONFLICT (merchant_id, payment_kind, payment_id, kind, trans_id) DO NOTHING`,
    {
      id: uuidv7(),
      merchant_id: payment.merchantId,
      kind,
      payment_kind: payment.kind,
      payment_id: payment.id,
      trans_id: transId,
      amount_cents: amountCents,
      details: JSON.stringify(details),
    },
  );
}
