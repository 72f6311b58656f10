import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';

/** The kinds, with the words that support reads. */
export const DISCREPANCY_KINDS = {
  other_amount: 'another amount moved than was asked for',
  other_account: 'money moved from or to another account',
  second_success: 'a second receipt for one payment',
  failure_after_success: 'the gateway takes back a success',
  return_failed: 'late money could not be given back',
  paid_after_refund: 'a payout arrived after its refund',
  second_reversal: 'a failed reversal succeeded after another took its place',
  never_taken: 'it could not be sent before its deadline',
  taken_after_failure: 'the gateway took it after it was failed here',
  overdue: 'the gateway has not said in time how it ended',
  missing_at_gateway: "not in the gateway's statement",
  unknown_movement: 'at the gateway, not with us',
  receipt_of_another: 'its receipt belongs to another payment',
  other_payment: 'the news names another payment',
  unreadable_callback: 'a genuine callback that nobody can read',
  unknown_payment: 'a callback for a payment that is not with us',
} as const;
export type DiscrepancyKind = keyof typeof DISCREPANCY_KINDS;

export interface NewDiscrepancy {
  kind: DiscrepancyKind;
  /** Null for a movement that no payment here explains. */
  payment: PaymentRef | null;
  /** The movement that waits in suspense for the decision. */
  movement_id?: string;
  trans_id?: string | null;
  amount_cents?: number | null;
  /** The facts that support needs, in the gateway's words. */
  details: Record<string, unknown>;
}

/**
 * Takes discrepancies off the support list because later news has settled them.
 * @param heardAt is the time of the news, if that was before now. It settles only older ones.
 * @returns whether there were any.
 */
export async function supersedeDiscrepancies(
  trx: Transaction,
  payment: PaymentRef,
  kinds: DiscrepancyKind[],
  heardAt: Date | null = null,
): Promise<boolean> {
  return hasRow(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE merchant_id = :merchant_id AND payment_kind = :kind
       AND payment_id = :id AND kind = ANY (:kinds) AND resolved_at IS NULL
       AND opened_at <= coalesce(CAST(:heard_at AS timestamptz), now())
     RETURNING id`,
    { ...payment, kinds, heard_at: heardAt },
  );
}

/** Takes an unknown movement off the support list: a payment or a callback has explained it. */
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

/** A movement in a gateway's statement. */
interface ShownMovement {
  reference: string | null;
  trans_id: string | null;
  amount_cents: number;
}

/** Tells whether a callback has told of this movement and named its merchant. */
export async function isOfUnknownPayment(
  trx: Transaction,
  gateway: string,
  movement: ShownMovement,
): Promise<boolean> {
  if (movement.reference === null || !isUuid(movement.reference)) return false;
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE kind = 'unknown_payment' AND payment_id = :reference
       AND details->>'outcome' = 'succeeded' AND details->>'gateway' = :gateway
       AND coalesce(trans_id = :trans_id, true) AND coalesce(amount_cents = :amount_cents, true)`,
    { ...movement, gateway },
  );
}

/**
 * Puts a discrepancy on the support list. The same one again changes nothing, even after it
 * was resolved. One with other facts opens it anew and keeps the earlier decision in its
 * details. The audit log keeps every decision.
 * @returns whether it was new.
 */
export async function openDiscrepancy(
  trx: Transaction,
  { kind, payment, movement_id, trans_id = null, amount_cents = null, details }: NewDiscrepancy,
): Promise<boolean> {
  return hasRow(
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
      movement_id: movement_id ?? null,
      trans_id,
      amount_cents,
      details: JSON.stringify(details),
    },
  );
}
