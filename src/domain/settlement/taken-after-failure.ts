import type { Transaction } from '../../connections/database.ts';
import { JOB_FAILED } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy, supersedeDiscrepancies } from '../discrepancies/discrepancy.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { type AnyPayment, findPayment, refOf } from '../payments/payment-store.ts';
import { pollStep, REFUND_STEP } from '../payments/schedule.ts';

/*
 * A gateway may acknowledge a payment that has failed here. It is asked about until the gateway's
 * definite word, and its refund waits until then.
 */

/** Puts a failed payment on the support list, and asks about it in place of its refund. */
export async function askAfterFailure(
  trx: Transaction,
  payment: AnyPayment,
  acknowledged: { attempt: number; external_ref: string | null },
  pollFirstMs: number,
): Promise<void> {
  const isNews = await openDiscrepancy(trx, {
    kind: 'taken_after_failure',
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details: acknowledged,
  });
  // The same acknowledgement may be recorded once more after an outage.
  if (!isNews) return;
  await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
}

/**
 * Ends the asking, because the gateway's definite word has come. The payment is then as it was
 * before the acknowledgement, and the usual rules apply to the word.
 * @param heardAt is the time of a failure. One from before the acknowledgement ends nothing.
 * @returns the payment as it is now.
 */
export async function endAskingAfterFailure(
  trx: Transaction,
  payment: AnyPayment,
  heardAt: Date | null = null,
): Promise<AnyPayment> {
  if (payment.status !== 'failed') return payment;
  const ref = refOf(payment);
  if (!(await supersedeDiscrepancies(trx, ref, ['taken_after_failure'], heardAt))) return payment;
  await goOnAsFailed(trx, payment);
  return (await findPayment(trx, ref))!;
}

/** Asks about a failed payment no more. The refund of a payout goes on. */
export async function goOnAsFailed(trx: Transaction, payment: AnyPayment): Promise<void> {
  const isAsked = payment.next_step === 'poll' || payment.parked_reason?.startsWith(JOB_FAILED);
  if (!isAsked) return;
  const isRefundDue = payment.kind === 'payout' && awaitsRefund(payment);
  await changeStep(trx, refOf(payment), isRefundDue ? REFUND_STEP : 'none');
}
