import { changeStep } from '../../jobs/outbox.ts';
import type { Audited } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { POLL_NOW } from '../payments/schedule.ts';

/** Says why the gateway cannot be asked about a payment now. Null: it can. */
export function whyNotAsked(payment: AnyPayment): string | null {
  const { next_step, parked_reason } = payment;
  if (next_step === 'poll') return null;
  if (parked_reason !== null) {
    return 'It waits for a person: replay its failed job, or decide its discrepancy';
  }
  if (next_step === 'submit') return 'It is not sent yet, so the gateway does not know it';
  return isOpen(payment) ? 'Another step comes first' : 'It has ended';
}

/**
 * Brings the next question to the gateway forward to now. It is the question that would come
 * anyway, so nothing is sent and no money moves by it.
 * @throws OperatorRefusal when no question is planned
 */
export function askNow(audited: Audited, ref: PaymentRef): Promise<void> {
  return audited(async (trx) => {
    const payment = await lockPayment(trx, ref);
    if (!payment) throw new OperatorRefusal(`There is no ${ref.kind} ${ref.id}`);
    const problem = whyNotAsked(payment);
    if (problem !== null) throw new OperatorRefusal(problem);
    await changeStep(trx, ref, POLL_NOW);
    const { kind, merchant_id, id, status, next_step_at } = payment;
    const details = { status, planned_for: next_step_at };
    return { value: undefined, audit: { merchant_id, subject: `${kind} ${id}`, details } };
  });
}
