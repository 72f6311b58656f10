import type { Failed, Succeeded } from '../gateway-results.ts';
import type { Payment } from './payment.ts';

/** The columns that say how a payment succeeded. */
export function successColumns(payment: Payment, news: Succeeded) {
  return {
    result_code: 0,
    result_description: news.description,
    trans_id: news.transId,
    external_ref: payment.external_ref ?? news.externalRef,
    payment_completed_at: news.completedAt,
  };
}

/** The columns that say why a payment failed. */
export function failureColumns(payment: Payment, news: Failed) {
  return {
    result_code: news.code,
    result_description: news.description,
    external_ref: payment.external_ref ?? news.externalRef,
  };
}
