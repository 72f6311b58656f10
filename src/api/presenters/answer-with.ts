import { addLogContext } from '../../process/logger.ts';
import type { Answer } from '../middleware/mount.ts';

/** Answers with a payment, and adds its id to the log lines of the request. */
export function answerWith<Payment extends { id: string }>(
  payment: Payment,
  present: (payment: Payment) => unknown,
): Answer {
  addLogContext({ payment_id: payment.id });
  return { body: present(payment) };
}
