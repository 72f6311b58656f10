import type { Payment } from '../../domain/payments/payment.ts';

/** What is known of a payment's outcome. */
export function outcome(payment: Payment) {
  return {
    result_code: payment.result_code,
    result_description: payment.result_description,
    trans_id: payment.trans_id,
    external_ref: payment.external_ref,
    payment_completed_at: payment.payment_completed_at?.toISOString() ?? null,
  };
}

/** As the deprecated lists show it: with two states folded into one. */
export function foldedStatus({ status }: Payment) {
  return status === 'processing' ? 'pending' : status;
}
