import { rows, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';

/**
 * Ends the question why the gateway's statement lacks money of a payment, because another statement lists that money.
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
       AND trans_id IS NOT DISTINCT FROM :receipt`,
    { ...payment, receipt },
  );
}
