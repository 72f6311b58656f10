import { type Database, firstRow, inTransaction, type Transaction } from '../../database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { isPaused } from '../channels/channel-store.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { SubmitResult } from '../gateway-results.ts';
import { transition } from '../transition.ts';
import { type AttemptResult, answerAttempt, insertAttempt, mayHaveArrived } from './attempts.ts';
import { isOpen } from './payment.ts';
import {
  type AnyPayment,
  fillEmpty,
  lockPayment,
  type PaymentRef,
  refOf,
} from './payment-store.ts';
import { isOverdue, pollStep, putOffStep, submitStep } from './schedule.ts';
import { settle } from './settle.ts';

/** The right to make one call to the gateway. */
export interface SubmissionClaim {
  payment: AnyPayment;
  attemptNo: number;
}

export interface ClaimOptions {
  /** How long after a submission the gateway is first asked for the outcome. */
  pollFirstMs: number;
  /** Nothing is submitted at all: the brake for a restored database. */
  allPaused?: boolean;
  /** May throw to leave a payment unclaimed that could not be sent anyway. */
  check?: (payment: AnyPayment) => void;
}

/**
 * Before the call: claims it and commits. If an earlier attempt may have arrived the
 * payment is never sent again; it is asked about instead. What may not go yet, because
 * submissions are paused or the receipt of what it reverses is missing, is put off.
 * @returns null when there is nothing to send.
 */
export async function claimSubmission(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
  { pollFirstMs, allPaused = false, check = () => {} }: ClaimOptions,
): Promise<SubmissionClaim | null> {
  return inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, ref);
    const due = payment?.step_no === stepNo && payment.next_step === 'submit';
    if (!payment || !due || payment.status !== 'pending') return null;
    check(payment);
    if (isTooLate(payment) && !(await mayHaveArrived(trx, payment))) {
      await parkUntaken(trx, payment);
      return null;
    }
    const mustWait = allPaused || (await isPaused(trx, payment.channel));
    if (mustWait || !(await hasOriginalReceipt(trx, payment))) {
      const ask = await mayHaveArrived(trx, payment);
      await changeStep(trx, ref, ask ? pollStep(payment, pollFirstMs) : putOffStep(payment));
      return null;
    }
    const attemptNo = await insertAttempt(trx, payment);
    if (attemptNo !== null) return { payment, attemptNo };
    await changeStep(trx, ref, pollStep(payment, pollFirstMs));
    return null;
  });
}

/**
 * A customer who is prompted long after the deadline pays for what nobody waits for any
 * more. Money that goes out is welcome at any time.
 */
function isTooLate(payment: AnyPayment): boolean {
  return payment.kind === 'collection' && isOverdue(payment);
}

/** Support may fail it: every attempt so far came to nothing. */
async function parkUntaken(trx: Transaction, payment: AnyPayment): Promise<void> {
  await changeStep(trx, refOf(payment), { park: 'overdue: the gateway has not taken it' });
  await openDiscrepancy(trx, {
    kind: 'never_taken',
    payment: refOf(payment),
    amountCents: payment.amount_cents,
    details: { deadline_at: payment.deadline_at.toISOString() },
  });
}

/** A reversal names the receipt of what it reverses, which may come later than the money did. */
async function hasOriginalReceipt(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  if (payment.kind !== 'reversal' || payment.original_trans_id !== null) return true;
  const filled = await firstRow<{ original_trans_id: string }>(
    trx,
    `UPDATE reversals r SET original_trans_id = c.trans_id FROM collections c
     WHERE r.merchant_id = :merchant_id AND r.id = :id AND c.merchant_id = r.merchant_id
       AND c.id = r.collection_id AND c.trans_id IS NOT NULL
     RETURNING r.original_trans_id`,
    { merchant_id: payment.merchant_id, id: payment.id },
  );
  if (filled) payment.original_trans_id = filled.original_trans_id;
  return filled !== undefined;
}

const ATTEMPT_RESULTS: Readonly<Record<SubmitResult['outcome'], AttemptResult>> = {
  acknowledged: 'acknowledged',
  declined: 'declined',
  notTaken: 'not_taken',
  unknown: 'unknown',
};

/**
 * After the call: records what it brought. What the gateway said is a fact and recorded
 * even when the payment has moved on meanwhile.
 */
export async function recordSubmission(
  database: Database,
  claim: SubmissionClaim,
  result: SubmitResult,
  pollFirstMs: number,
): Promise<void> {
  await inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, refOf(claim.payment));
    if (!payment) throw new Error(`${claim.payment.kind} ${claim.payment.id} is gone`);
    const detail = 'reason' in result ? result.reason : null;
    await answerAttempt(
      trx,
      payment,
      claim.attemptNo,
      ATTEMPT_RESULTS[result.outcome],
      'code' in result ? `${result.code} ${result.description}` : detail,
    );
    await applyResult(trx, payment, claim.attemptNo, result, pollFirstMs);
  });
}

async function applyResult(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  result: SubmitResult,
  pollFirstMs: number,
): Promise<void> {
  switch (result.outcome) {
    case 'acknowledged':
      if (payment.status !== 'pending') {
        return fillEmpty(trx, payment, { external_ref: result.externalRef });
      }
      await transition(trx, payment, {
        to: 'processing',
        set: { external_ref: payment.external_ref ?? result.externalRef },
        step: pollStep(payment, pollFirstMs),
        cause: 'submission',
      });
      return;
    case 'declined':
      await settle(trx, payment, { ...result, outcome: 'failed' }, 'submission');
      return;
    case 'notTaken':
      // Somebody may have begun to ask meanwhile; now that nothing arrived there is nothing to ask.
      if (payment.status === 'pending' && payment.next_step !== null) {
        await changeStep(trx, refOf(payment), submitStep(payment, attemptNo));
      }
      return;
    case 'unknown':
      if (isOpen(payment)) await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
  }
}
