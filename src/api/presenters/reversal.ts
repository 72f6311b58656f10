import { formatAmount } from '../../domain/money.ts';
import { netOf, REVERSAL_STATES, type Reversal } from '../../domain/payments/reversal.ts';

/** The one record of a reversal, in all answers. */
export function reversalRecord(reversal: Reversal) {
  const { code, label } = REVERSAL_STATES[reversal.status];
  return {
    ref_no: reversal.ref_no,
    checkout_ref_no: reversal.checkout_ref_no,
    original_trans_id: reversal.original_trans_id,
    amount: formatAmount(reversal.amount_cents),
    reversed_net_amount: formatAmount(netOf(reversal)),
    reversed_commission: formatAmount(reversal.commission_cents),
    status: code,
    status_label: label,
    result_description: reversal.result_description,
    trans_id: reversal.trans_id,
    reason: reversal.reason,
    created_at: reversal.created_at.toISOString(),
    payment_completed_at: reversal.payment_completed_at?.toISOString() ?? null,
  };
}
