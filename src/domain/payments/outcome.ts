import type { Failed, Succeeded } from '../gateway-results.ts';
import type { Payment } from './payment.ts';

/** Returns the columns of a payment that succeeded. */
export function successColumns(payment: Payment, news: Succeeded) {
  return {
    result_code: 0,
    result_description: news.description,
    trans_id: news.transId,
    external_ref: payment.external_ref ?? news.externalRef,
    payment_completed_at: news.completedAt,
  };
}

/** Returns the columns of a payment that failed. */
export function failureColumns(payment: Payment, news: Failed) {
  return {
    result_code: news.code,
    result_description: news.description,
    external_ref: payment.external_ref ?? news.externalRef,
  };
}
