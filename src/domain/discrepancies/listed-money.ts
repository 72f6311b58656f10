import { rows, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ARE_UNSURE } from '../settlement/sources.ts';

/**
 * Ends the question why the gateway's statement lacks money of a payment: another statement lists that money, or the
 * payment has it no more.
 * @param receipt is what the books had for the money: null if it had none
 */
export async function endMissing(
  trx: Transaction,
  payment: PaymentRef,
  receipt: string | null,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND kind = 'missing_at_gateway' AND resolved_at IS NULL
       AND (trans_id IS NOT DISTINCT FROM :receipt
         -- The money may have got its receipt since the question was asked.
         OR trans_id IS NULL AND NOT EXISTS (SELECT FROM movements m
           WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind AND m.payment_id = :id
             AND m.trans_id IS NULL AND m.booked <> 'undone'))`,
    { ...payment, receipt },
  );
}

/**
 * Ends the questions in which only people have told another amount or account of booked money, because the gateway's own
 * statement lists that money as it is booked.
 */
export async function endWrongRows(
  trx: Transaction,
  payment: PaymentRef,
  receipt: string | null,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies d SET resolved_at = now(), resolution = 'superseded'
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND kind IN ('other_amount', 'other_account') AND movement_id IS NULL
       AND resolved_at IS NULL AND evidence_complete AND coalesce(trans_id = :receipt, true)
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e
         WHERE NOT CAST(e->'decided' AS boolean) AND coalesce(e->>'told_by', '') NOT IN ${ARE_UNSURE})`,
    { ...payment, receipt },
  );
}
