import { hasRow, type Transaction } from '../../connections/database.ts';
import { JOB_FAILED } from '../../jobs/job-types.ts';
import { changeStep, type StepChange } from '../../jobs/outbox.ts';
import {
  type DiscrepancyKind,
  FOR_DECISION,
  openDiscrepancy,
  openQuestion,
} from '../discrepancies/discrepancy.ts';
import { supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { type AnyPayment, findPayment, refOf } from '../payments/payment-store.ts';
import { POLL_NOW, pollStep, REFUND_STEP } from '../payments/schedule.ts';

/*
 * The way of a payment after it has failed here. A payout is refunded, unless somebody must decide where its money is.
 * A gateway that acknowledges a failed payment is asked about it until its definite word, and the refund waits.
 */

/**
 * Puts a failed payment on the support list, and asks about it in place of its refund.
 * @param details say why: the acknowledgement, or who has taken back support's word
 */
export async function askAfterFailure(
  trx: Transaction,
  payment: AnyPayment,
  details: Record<string, unknown>,
  pollFirstMs: number,
): Promise<void> {
  const isNews = await openDiscrepancy(trx, {
    kind: 'taken_after_failure',
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details,
  });
  if (!isNews) return;
  await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
}

/**
 * Ends the asking, because the gateway's definite word has come. The payment is then as it was
 * before the acknowledgement, and the usual rules apply to the word.
 * @param failure is the gateway's word, if it is a failure. One from before the acknowledgement, or about another
 * attempt than was acknowledged, ends nothing.
 * @returns the payment as it is now.
 */
export async function endAskingAfterFailure(
  trx: Transaction,
  payment: AnyPayment,
  failure: { heardAt: Date | null; externalRef: string | null } | null = null,
): Promise<AnyPayment> {
  if (payment.status !== 'failed') return payment;
  const ref = refOf(payment);
  const heardAt = failure?.heardAt ?? null;
  if (await isOfOtherAttempt(trx, payment, failure?.externalRef ?? null)) return payment;
  if (!(await supersedeDiscrepancies(trx, ref, ['taken_after_failure'], { heardAt }))) {
    return payment;
  }
  await goOnAsFailed(trx, payment);
  return (await findPayment(trx, ref))!;
}

/** Tells whether the gateway is asked because it acknowledged an attempt under another reference. */
async function isOfOtherAttempt(
  trx: Transaction,
  payment: AnyPayment,
  external_ref: string | null,
): Promise<boolean> {
  if (external_ref === null) return false;
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND kind = 'taken_after_failure' AND resolved_at IS NULL
       AND details->>'external_ref' <> :told_ref`,
    { ...payment, told_ref: external_ref },
  );
}

/** Asks about a failed payment no more. The refund of a payout goes on. */
export async function goOnAsFailed(trx: Transaction, payment: AnyPayment): Promise<void> {
  const isAsked = payment.next_step === 'poll' || payment.parked_reason?.startsWith(JOB_FAILED);
  if (!isAsked) return;
  const isRefundDue = payment.kind === 'payout' && awaitsRefund(payment);
  await changeStep(
    trx,
    refOf(payment),
    isRefundDue ? await refundUnlessHeld(trx, payment) : 'none',
  );
}

/** Returns the step of a refund, which waits while somebody must decide where the money is. */
export async function refundUnlessHeld(trx: Transaction, payment: AnyPayment): Promise<StepChange> {
  return refundUnless(await openQuestion(trx, payment));
}

/** Returns the step of a refund, which waits for this question if there is one. */
export function refundUnless(question: DiscrepancyKind | null): StepChange {
  return question ? { park: `${FOR_DECISION}${question}` } : REFUND_STEP;
}

/** Returns the next step of a failed payout: its refund, unless the gateway is still to be asked. */
export async function stepOfRefund(trx: Transaction, payment: AnyPayment): Promise<StepChange> {
  const isAsked = await hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND kind = 'taken_after_failure' AND resolved_at IS NULL`,
    payment,
  );
  return isAsked ? POLL_NOW : REFUND_STEP;
}

/**
 * Puts a refund off until somebody has decided: the gateway says that the payout arrived. What somebody
 * has decided before is no question again, and nobody would let the refund go on.
 * @returns whether it is put off
 */
export async function holdRefund(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  if (payment.next_step !== 'refund') return false;
  const question = await openQuestion(trx, refOf(payment));
  if (question) await changeStep(trx, refOf(payment), refundUnless(question));
  return question !== null;
}
