import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';

/**
 * - other_amount, other_account: the gateway moved something else than was asked for.
 * - second_success: two receipts for one payment.
 * - failure_after_success: the gateway takes back a success.
 * - return_failed: money of a late collection could not be given back.
 * - paid_after_refund: a payout arrived after its money was put back.
 * - second_reversal: a reversal that had failed succeeded after another took its place.
 * - never_taken: it could not be sent before its deadline.
 * - taken_after_failure: the gateway took it after it was failed here.
 * - overdue: its deadline is past and the gateway has not said how it ended.
 * - missing_at_gateway: completed here, and not in the gateway's statement.
 * - unknown_movement: at the gateway, in its statement, and not with us.
 * - other_payment: a callback names another payment than its address.
 * - unknown_payment: a genuine callback for a payment that is not here.
 */
export type DiscrepancyKind =
  | 'other_amount'
  | 'other_account'
  | 'second_success'
  | 'failure_after_success'
  | 'return_failed'
  | 'paid_after_refund'
  | 'second_reversal'
  | 'never_taken'
  | 'taken_after_failure'
  | 'overdue'
  | 'missing_at_gateway'
  | 'unknown_movement'
  | 'other_payment'
  | 'unknown_payment';

export interface NewDiscrepancy {
  kind: DiscrepancyKind;
  /** Null for a movement that no payment here explains. */
  payment: PaymentRef | null;
  /** The money that waits in suspense for the decision. */
  movement_id?: string;
  trans_id?: string | null;
  amount_cents?: number | null;
  /** What support needs to decide, in the gateway's words. */
  details: Record<string, unknown>;
}

/** Takes findings off the support list because later news has settled them. */
export async function supersedeDiscrepancies(
  trx: Transaction,
  payment: PaymentRef,
  kinds: DiscrepancyKind[],
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE merchant_id = :merchant_id AND payment_kind = :payment_kind
       AND payment_id = :payment_id AND kind = ANY (:kinds) AND resolved_at IS NULL`,
    {
      merchant_id: payment.merchant_id,
      payment_kind: payment.kind,
      payment_id: payment.id,
      kinds,
    },
  );
}

/**
 * Takes a movement that a statement showed off the support list: it is known now what it was
 * for, by a payment or by a callback that names the merchant.
 */
export async function supersedeUnknownMovement(
  trx: Transaction,
  reference: string,
  transId: string | null,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE kind = 'unknown_movement' AND resolved_at IS NULL AND merchant_id IS NULL
       AND payment_kind IS NULL AND payment_id IS NULL
       AND details->>'reference' = :reference AND trans_id IN (:trans_id, :reference)`,
    { reference, trans_id: transId ?? reference },
  );
}

/** Money that a gateway's statement shows. */
interface ShownMovement {
  reference: string | null;
  trans_id: string | null;
  amount_cents: number;
}

/** Whether a callback has told of this movement, with the merchant that it was for. */
export async function isOfUnknownPayment(
  trx: Transaction,
  gateway: string,
  { reference, trans_id, amount_cents }: ShownMovement,
): Promise<boolean> {
  if (reference === null || !isUuid(reference)) return false;
  const found = await firstRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE kind = 'unknown_payment' AND payment_id = :reference
       AND details->>'outcome' = 'succeeded' AND details->>'gateway' = :gateway
       AND coalesce(trans_id = :trans_id, true) AND coalesce(amount_cents = :amount_cents, true)`,
    { gateway, reference, trans_id, amount_cents },
  );
  return found !== undefined;
}

/**
 * Puts something that does not add up on the support list. The same finding again changes
 * nothing, also when it is resolved; one that says something else opens it anew, with what
 * was decided before. The audit log keeps every decision.
 * @returns whether it was news.
 */
export async function openDiscrepancy(
  trx: Transaction,
  {
    kind,
    payment,
    movement_id: movementId,
    trans_id: transId = null,
    amount_cents: amountCents = null,
    details,
  }: NewDiscrepancy,
): Promise<boolean> {
  const written = await firstRow(
    trx,
    `INSERT INTO discrepancies AS known
       (id, merchant_id, kind, payment_kind, payment_id, movement_id, trans_id, amount_cents,
        details)
     VALUES (:id, :merchant_id, :kind, :payment_kind, :payment_id, :movement_id, :trans_id,
       :amount_cents, CAST(:details AS jsonb))
     ON CONFLICT (merchant_id, payment_kind, payment_id, kind, trans_id) DO UPDATE
       SET movement_id = excluded.movement_id, amount_cents = excluded.amount_cents,
         details = excluded.details || jsonb_build_object('decided_before', jsonb_build_object(
           'as', known.resolution, 'by', known.resolved_by, 'at', known.resolved_at,
           'amount_cents', known.amount_cents, 'details', known.details - 'decided_before')),
         opened_at = now(), resolved_at = NULL, resolution = NULL, resolved_by = NULL,
         resolved_reason = NULL
       WHERE known.resolved_at IS NOT NULL
         AND (known.movement_id, known.amount_cents, known.details - 'decided_before')
           IS DISTINCT FROM (excluded.movement_id, excluded.amount_cents, excluded.details)
     RETURNING id`,
    {
      id: uuidv7(),
      merchant_id: payment?.merchant_id ?? null,
      kind,
      payment_kind: payment?.kind ?? null,
      payment_id: payment?.id ?? null,
      movement_id: movementId ?? null,
      trans_id: transId,
      amount_cents: amountCents,
      details: JSON.stringify(details),
    },
  );
  return written !== undefined;
}
