import { validate as isUuid } from 'uuid';
import { hasRow, rows, type Transaction } from '../../connections/database.ts';

/** A movement in the words of its gateway. What it does not say is null. */
interface ToldMovement {
  gateway: string;
  reference: string | null;
  trans_id: string | null;
  amount_cents: number | null;
}

/**
 * Takes an unknown movement off the support list: a payment or a callback has explained it. It
 * stays there when other facts were found under the same receipt.
 */
export async function supersedeUnknownMovement(
  trx: Transaction,
  movement: ToldMovement,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE kind = 'unknown_movement' AND resolved_at IS NULL AND gateway = :gateway
       AND merchant_id IS NULL AND payment_kind IS NULL AND payment_id IS NULL
       AND trans_id IN (coalesce(:trans_id, :reference), :reference) AND evidence_complete
       AND NOT EXISTS (
         SELECT FROM jsonb_array_elements(evidence) AS e
         WHERE NOT CAST(e->'decided' AS boolean)
           AND NOT (coalesce(e->'details'->>'reference' = :reference, false) AND ${SAME_AMOUNT}))`,
    movement,
  );
}

/** SQL: evidence `e` names the amount, or one of the two names none. */
const SAME_AMOUNT = `coalesce(CAST(e->>'amount_cents' AS bigint) = :amount_cents, true)`;

/** Tells whether a callback has told of this movement and named its merchant. */
export async function isOfUnknownPayment(
  trx: Transaction,
  movement: ToldMovement,
): Promise<boolean> {
  if (movement.reference === null || !isUuid(movement.reference)) return false;
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies, jsonb_array_elements(evidence) AS e
     WHERE kind = 'unknown_payment' AND payment_id = :reference AND gateway = :gateway
       AND e->'details'->>'outcome' = 'succeeded'
       AND coalesce(trans_id = :trans_id, true) AND ${SAME_AMOUNT}`,
    movement,
  );
}
