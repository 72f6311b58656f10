import {
  type Database,
  firstRow,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { isPaused } from '../channels/channel-store.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { type AnyPayment, lockPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { pollStep, putOffStep } from '../payments/schedule.ts';
import { insertAttempt, mayHaveArrived } from './attempts.ts';
import { reportIfOverdue } from './overdue.ts';

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
  options: ClaimOptions,
): Promise<SubmissionClaim | null> {
  return inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, ref);
    const due = payment?.step_no === stepNo && payment.next_step === 'submit';
    if (!payment || !due || payment.status !== 'pending') return null;
    options.check?.(payment);
    return claim(trx, payment, options);
  });
}

async function claim(
  trx: Transaction,
  payment: AnyPayment,
  { pollFirstMs, allPaused = false }: ClaimOptions,
): Promise<SubmissionClaim | null> {
  const ask = () => changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
  const hasReceipt = await hasOriginalReceipt(trx, payment);
  const mustWait = !hasReceipt || allPaused || (await isPaused(trx, payment.channel));
  if (payment.overdue || mustWait) {
    if (await mayHaveArrived(trx, payment)) {
      await ask();
      return null;
    }
    if (isTooLate(payment)) {
      await parkUntaken(trx, payment);
      return null;
    }
    await reportIfOverdue(trx, payment, 'it has not been taken yet');
  }
  if (mustWait) {
    await changeStep(trx, refOf(payment), putOffStep(payment));
    return null;
  }
  const attemptNo = await insertAttempt(trx, payment);
  if (attemptNo !== null) return { payment, attemptNo };
  await ask();
  return null;
}

/**
 * A customer who is prompted long after the deadline pays for what nobody waits for any
 * more. Money that goes out is welcome at any time.
 */
export function isTooLate(payment: AnyPayment): boolean {
  return payment.kind === 'collection' && payment.overdue;
}

/** Support may fail it: every attempt so far came to nothing. */
async function parkUntaken(trx: Transaction, payment: AnyPayment): Promise<void> {
  await changeStep(trx, refOf(payment), { park: 'overdue: the gateway has not taken it' });
  await openDiscrepancy(trx, {
    kind: 'never_taken',
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
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
  if (filled) Object.assign(payment, filled);
  return filled !== undefined;
}
