import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
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
  const receipt = await originalReceipt(trx, payment);
  const brake = await brakeOn(trx, payment, allPaused);
  const mustWait = receipt === null || brake !== null || (await isToldAsDone(trx, payment));
  if (payment.overdue || mustWait) {
    if (await mayHaveArrived(trx, payment)) {
      await ask();
      return null;
    }
    // A restored database may have forgotten an attempt.
    if (isTooLate(payment) && brake !== 'restored database') {
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
    return { payment: await withReceipt(trx, payment, receipt), attemptNo, callBefore };
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
 * Returns the receipt that a reversal's collection has now; null if it has none yet, or one that is
 * in question. Support may have corrected it since the reversal was accepted. Other kinds need none.
 */
async function originalReceipt(trx: Transaction, payment: AnyPayment): Promise<string | null> {
  if (payment.kind === 'return') {
    const inQuestion = `SELECT 1 FROM returns r WHERE ${OF_ID} AND ${hasReceiptInQuestion('r')}`;
    return (await hasRow(trx, inQuestion, payment)) ? null : NO_RECEIPT_NEEDED;
  }
  if (payment.kind !== 'reversal') return NO_RECEIPT_NEEDED;
  const { merchant_id, collection_id: id, account } = payment;
  const collection = await firstRow<{ trans_id: string | null }>(
    trx,
    `SELECT CASE WHEN NOT ${IS_IN_QUESTION} AND NOT ${hasOtherPayer(':account')}
       THEN c.trans_id END AS trans_id FROM collections c
     WHERE c.merchant_id = :merchant_id AND c.id = :id`,
    { merchant_id, id, account },
  );
  return collection!.trans_id;
}

const NO_RECEIPT_NEEDED = '';
const OF_ID = 'merchant_id = :merchant_id AND id = :id';

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

const HAS_RETURNED_RECEIPT = `AND NOT ${hasReceiptInQuestion('locked')}`;

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
