import type { Payment } from '../../domain/payments/payment.ts';

export function outcome(payment: Payment) {
  return {
    result_code: payment.result_code,
    result_description: payment.result_description,
    trans_id: payment.trans_id,
    external_ref: payment.external_ref,
    payment_completed_at: payment.payment_completed_at?.toISOString() ?? null,
  };
}

/** The deprecated lists show `processing` as `pending`. */
export function deprecatedStatus({ status }: Payment) {
  return status === 'processing' ? 'pending' : status;
}
