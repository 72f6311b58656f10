import type { GatewayPaymentKind } from '../gateway-results.ts';

/** SQL: it is about money that no payment here explained when it was reported. It is the condition of indexes. */
export const IS_UNKNOWN = "kind IN ('unknown_movement', 'unknown_payment')";

/** SQL: it is about such money, or a row that brings money back of which nobody knows the payout. It is the condition of an index. */
export const IS_UNOWNED = "kind IN ('unknown_movement', 'unknown_payment', 'money_back')";

/** SQL: the gateway itself has told the money of the question `d`, by a callback or in its own statement. */
export const IS_TOLD = `(d.kind = 'unknown_payment' OR EXISTS (SELECT FROM jsonb_array_elements(d.evidence) AS e
  WHERE e->>'told_by' = 'statement'))`;

/** A movement in the words of its gateway. What it does not say is null. */
export interface ToldMovement {
  gateway: string;
  /** Our reference at the gateway. */
  reference: string | null;
  trans_id: string | null;
  amount_cents: number | null;
}

/** Money in the words of a gateway, with the references of the payment that it is told of, our own and the gateway's. */
export interface MoneyOfPayment extends Pick<ToldMovement, 'gateway' | 'trans_id'> {
  references: (string | null)[];
  payment_kind: GatewayPaymentKind;
}

/**
 * Returns a condition: `discrepancies` is about money that no payment here explained when it was
 * reported, under one of these references or `:trans_id`. It is the condition of an index.
 */
export function isUnexplained(references: string): string {
  return `${IS_UNKNOWN}
    AND (details->>'reference' IN (${references})
      OR details->>'reference' IS NULL AND trans_id = :trans_id)`;
}

export const IS_UNEXPLAINED = isUnexplained(':reference');

/** SQL: the question has the receipt, which a file may call a reference and write in small letters. */
export const IS_RECEIPT = 'trans_id IN (CAST(:trans_id AS text), lower(CAST(:trans_id AS text)))';

/**
 * Returns a condition: the same, and the receipt counts whatever the reference. A file may have the reference of
 * somebody else's system.
 */
export function mayBeUnexplained(references: string): string {
  return `${IS_UNKNOWN}
    AND (details->>'reference' IN (${references}) OR gateway = :gateway AND ${IS_RECEIPT})`;
}

/** SQL: money of this kind has the direction of the payment: both came in, or both went out. */
export const isThisDirection = (kind: string) =>
  `(${kind} = 'collection') = (CAST(:payment_kind AS text) = 'collection')`;

/**
 * SQL: the money has the direction of the payment. A gateway may use a receipt once in each direction: then a finding
 * of either is here.
 */
export const IS_THIS_DIRECTION = `(coalesce(${isThisDirection('payment_kind')}, NOT evidence_complete)
  OR EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e
    WHERE ${isThisDirection("coalesce(payment_kind, e->'details'->>'kind')")}))`;

/** SQL: the details, with the decision if the money was dismissed. */
export const KEEPING_DECISION = `details || CASE WHEN resolution = 'dismissed' THEN
    jsonb_build_object('decided_before', jsonb_build_object('as', resolution, 'by', resolved_by,
      'at', resolved_at, 'amount_cents', amount_cents, 'details', details - 'decided_before'))
    ELSE '{}' END`;
