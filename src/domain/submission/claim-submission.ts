import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { type Deadline, deadlineIn } from '../../time.ts';
import { GatewayGoneError } from '../channels/channel.ts';
import {
  type AnyPayment,
  lockedByKey,
  type PaymentRef,
  refOf,
  withPaymentLocked,
} from '../payments/payment-store.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import { pollStep, putOffStep } from '../payments/schedule.ts';
import { isToldAsDone } from '../settlement/unconfirmed.ts';
import { insertAttempt, mayHaveArrived } from './attempts.ts';
import { brakeOn, brakeOnRow, MAX_CLAIM_AGE_MS } from './call-limits.ts';
import { hasOtherPayer, hasReceiptInQuestion, IS_IN_QUESTION } from './receipt-in-question.ts';
import { parkUntaken } from './record-submission.ts';

/** The right to make one call to the gateway. */
export interface SubmissionClaim {
  payment: AnyPayment;
  attemptNo: number;
  /** No call begins later. */
  callBefore: Deadline;
}

export interface ClaimOptions {
  /** The time from a submission to the first question about its outcome. */
  pollFirstMs: number;
  /** Submits nothing at all. This is the brake for a restored database. */
  allPaused?: boolean;
  /** The gateways that this process can call. A payment of another one stays unclaimed. */
  gateways: readonly string[];
}

/**
 * Claims the call to the gateway and commits the claim. If an earlier attempt may have arrived,
 * the gateway is asked instead. Only `countNotFound` lets it go again. Puts the payment off while
 * submissions are paused, its merchant is held, the receipt that it names is missing or in question, or
 * the gateway has called it done.
 * @returns null when there is nothing to send.
 * @throws GatewayGoneError when this process cannot call the payment's gateway.
 */
export async function claimSubmission(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
  options: ClaimOptions,
): Promise<SubmissionClaim | null> {
  if (!options.allPaused) {
    const callBefore = deadlineIn(MAX_CLAIM_AGE_MS);
    const payment = await claimAtOnce(database, ref, stepNo, options.gateways);
    if (payment) return { payment, attemptNo: 1, callBefore };
  }
  return withPaymentLocked(database, ref, async (trx, payment) => {
    const due = payment?.step_no === stepNo && payment.next_step === 'submit';
    if (!payment || !due || payment.status !== 'pending') return null;
    if (!options.gateways.includes(payment.gateway)) throw new GatewayGoneError(payment.gateway);
    return claim(trx, payment, options);
  });
}

async function claim(
  trx: Transaction,
  payment: AnyPayment,
  { pollFirstMs, allPaused = false }: ClaimOptions,
): Promise<SubmissionClaim | null> {
  const ask = () => changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
  const named = await namedReceipt(trx, payment);
  const brake = await brakeOn(trx, payment, allPaused);
  const isDone = await isToldAsDone(trx, payment);
  const mustWait = named === null || brake !== null || isDone;
  if (payment.overdue || mustWait) {
    if (await mayHaveArrived(trx, payment)) {
      await ask();
      return null;
    }
    // A restored database may have forgotten an attempt, of which the gateway may tell.
    if (isTooLate(payment) && brake !== 'restored database' && !isDone) {
      await parkUntaken(trx, payment);
      return null;
    }
  }
  if (mustWait) {
    await changeStep(trx, refOf(payment), putOffStep(payment));
    return null;
  }
  const callBefore = deadlineIn(MAX_CLAIM_AGE_MS);
  const attemptNo = await insertAttempt(trx, payment);
  if (attemptNo !== null) {
    return { payment: await withReceipt(trx, payment, named.receipt), attemptNo, callBefore };
  }
  await ask();
  return null;
}

/**
 * Tells whether the payment must not go any more. A customer who is prompted after the deadline
 * pays for something that nobody waits for. Money that goes out is welcome at any time.
 */
export function isTooLate(payment: Pick<AnyPayment, 'kind' | 'overdue'>): boolean {
  return payment.kind === 'collection' && payment.overdue;
}

/**
 * Finds the receipt that a payment names. A reversal names the one that its collection has now: support may have
 * corrected it since the reversal was accepted. A return has its own. Null: none is known, or none is needed.
 * @returns null while the payment must wait for its receipt: a reversal without one, one in question, or a collection
 * about which something is being recorded at this moment
 */
async function namedReceipt(
  trx: Transaction,
  payment: AnyPayment,
): Promise<{ receipt: string | null } | null> {
  if (payment.kind !== 'reversal' && payment.kind !== 'return') return { receipt: null };
  const isReversal = payment.kind === 'reversal';
  const isInQuestion = isReversal
    ? `${IS_IN_QUESTION} OR ${hasOtherPayer('r.account')} OR c.trans_id IS NULL`
    : hasReceiptInQuestion('r');
  const found = await firstRow<{ receipt: string | null }>(
    trx,
    `SELECT ${isReversal ? 'c.trans_id' : 'r.original_trans_id'} AS receipt
     FROM ${STEP_TABLES[payment.kind].table} r
     JOIN collections c ON c.merchant_id = r.merchant_id AND c.id = r.collection_id
     WHERE r.merchant_id = :merchant_id AND r.id = :id AND NOT (${isInQuestion})
     FOR SHARE OF c SKIP LOCKED`,
    refOf(payment),
  );
  return found ?? null;
}

/** Stores the receipt with which a reversal goes out. */
async function withReceipt(
  trx: Transaction,
  payment: AnyPayment,
  original_trans_id: string | null,
): Promise<AnyPayment> {
  if (payment.kind !== 'reversal' || payment.original_trans_id === original_trans_id)
    return payment;
  await rows(
    trx,
    `UPDATE reversals SET original_trans_id = :original_trans_id
     WHERE merchant_id = :merchant_id AND id = :id`,
    { ...refOf(payment), original_trans_id },
  );
  return { ...payment, original_trans_id };
}

/**
 * SQL: the reversal names the receipt that its collection has now, and nobody questions it. A
 * correction waits meanwhile.
 */
const HAS_RECEIPT = `AND original_trans_id = (SELECT c.trans_id FROM collections c
           WHERE c.merchant_id = locked.merchant_id AND c.id = locked.collection_id AND NOT ${IS_IN_QUESTION}
           AND NOT ${hasOtherPayer('locked.account')}
           FOR SHARE SKIP LOCKED)`;

/** SQL: nobody questions the receipt that the return names, and nothing is being recorded about its collection. */
const HAS_RETURNED_RECEIPT = `AND EXISTS (SELECT FROM collections c
           WHERE c.merchant_id = locked.merchant_id AND c.id = locked.collection_id
             AND NOT ${hasReceiptInQuestion('locked')} FOR SHARE SKIP LOCKED)`;

/**
 * Claims the first attempt of a payment that nothing holds: the common case, in one statement that
 * does all or nothing. Every other case is decided step by step, in a transaction that locks it.
 * @param gateways are those that this process can call.
 * @returns the claimed payment, or null: then nothing has changed, and the case may be another one.
 */
export async function claimAtOnce(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
  gateways: readonly string[],
): Promise<AnyPayment | null> {
  const { kind } = ref;
  const hasReceipt = { reversal: HAS_RECEIPT, return: HAS_RETURNED_RECEIPT }[String(kind)] ?? '';
  const claimed = await firstRow<AnyPayment>(
    database,
    `WITH ${lockedByKey(kind)}, due AS (
       SELECT * FROM locked
       WHERE step_no = :step_no AND next_step = 'submit' AND status = 'pending'
         AND deadline_at > now() AND gateway = ANY(:gateways) ${hasReceipt}
         AND ${brakeOnRow(kind, 'locked')} IS NULL
         -- The gateway may have called it done: a restored database has forgotten the attempt.
         AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = locked.merchant_id
           AND d.payment_id = locked.id AND d.resolved_at IS NULL)
     ), claimed AS (
       INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, started_at)
       SELECT merchant_id, '${kind}', id, 1, clock_timestamp() FROM due
       ON CONFLICT DO NOTHING RETURNING attempt_no
     )
     SELECT ${paymentColumns(kind, 'due')} FROM due, claimed`,
    { ...ref, step_no: stepNo, gateways },
  );
  return claimed ?? null;
}
