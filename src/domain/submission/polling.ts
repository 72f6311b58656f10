import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { IS_READ_ONLY, requireWritable } from '../../connections/database-errors.ts';
import { changeStep, type StepChange } from '../../jobs/outbox.ts';
import type { QueryResult, Verdict } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import {
  type AnyPayment,
  findPayment,
  type PaymentRef,
  refOf,
  withPaymentLocked,
} from '../payments/payment-store.ts';
import { pollSoonStep, pollStep, submitStep } from '../payments/schedule.ts';
import { transition } from '../payments/transition.ts';
import { heardNow } from '../settlement/callback-store.ts';
import { settle } from '../settlement/settle.ts';
import { isToldAsDone } from '../settlement/unconfirmed.ts';
import { storableText } from '../text.ts';
import { countNotFound, mayHaveArrived } from './attempts.ts';
import type { Recording } from './record-submission.ts';

/** A gateway's rules for sending a reference again and for asking again. */
export interface ResubmitRule {
  resubmit: 'safe' | 'never';
  settlingWindowMs: number;
  answerWindowMs: number;
}

/** A question about a payment, and the database's time at which it was asked. */
export interface Question {
  payment: AnyPayment;
  askedAt: Date;
}

/**
 * Prepares a question about a payment.
 * @returns null when nothing is to be asked.
 * @throws an outage while the database is read-only: it could not record the answer.
 */
export async function questionAbout(database: Database, ref: PaymentRef): Promise<Question | null> {
  const now = await firstRow<{ at: Date; isReadOnly: boolean }>(
    database,
    `SELECT ${heardNow()} AS at, ${IS_READ_ONLY} AS "isReadOnly"`,
    ref,
  );
  const payment = await findPayment(database, ref);
  if (!payment || !isAskedAbout(payment)) return null;
  requireWritable(now!);
  return { payment, askedAt: now!.at };
}

/** Tells whether the gateway is asked: about an open payment, or a failed one that it has taken. */
function isAskedAbout(payment: AnyPayment): boolean {
  return isOpen(payment) || (payment.status === 'failed' && payment.next_step === 'poll');
}

/** Finds the payment to ask about. @returns null when this job is stale. */
export async function findPaymentToPoll(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
): Promise<Question | null> {
  const question = await questionAbout(database, ref);
  const due = question?.payment.step_no === stepNo && question.payment.next_step === 'poll';
  return due ? question : null;
}

/**
 * Records the gateway's answer to a question. Always applies a verdict. Any other answer only
 * plans the next step, and only if this job is not stale.
 */
export async function recordQuery(
  database: Database,
  { payment: asked, askedAt }: Question,
  result: QueryResult,
  rule: ResubmitRule,
  { pollFirstMs, parserOf }: Recording,
): Promise<void> {
  await withPaymentLocked(database, refOf(asked), async (trx, payment) => {
    if (!payment) throw new Error(`${asked.kind} ${asked.id} is gone`);
    if (result.outcome === 'succeeded' || result.outcome === 'failed') {
      await settle(trx, payment, result, { cause: 'poll', heardAt: askedAt, parserOf });
      await askAgain(trx, asked, pollFirstMs);
    } else if (payment.step_no === asked.step_no) {
      await planNext(trx, { payment, askedAt }, result, rule, pollFirstMs);
    }
  });
}

/** Plans the next question when the verdict did not end the asking. */
async function askAgain(trx: Transaction, asked: AnyPayment, pollFirstMs: number) {
  const payment = await findPayment(trx, refOf(asked));
  if (!payment || !isAskedAbout(payment) || payment.step_no !== asked.step_no) return;
  await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
}

async function planNext(
  trx: Transaction,
  question: Question,
  answer: Exclude<QueryResult, Verdict>,
  rule: ResubmitRule,
  pollFirstMs: number,
): Promise<void> {
  const { payment, askedAt } = question;
  const { outcome } = answer;
  const set = { last_answer: wordsOf(answer), last_asked_at: askedAt };
  if (outcome === 'pending' && payment.status === 'pending') {
    // The acknowledgement was lost. This answer is as good: the gateway has the payment.
    const step = pollStep(payment, pollFirstMs);
    await transition(trx, payment, { to: 'processing', set, step, cause: 'poll' });
    return;
  }
  if (outcome === 'notFound' && payment.status === 'pending') {
    const step = await stepAfterNotFound(trx, question, rule, pollFirstMs);
    await changeStep(trx, refOf(payment), step, { set });
    return;
  }
  const waitMs = outcome === 'asked' ? rule.answerWindowMs : 0;
  const step = pollStep(payment, Math.max(pollFirstMs, waitMs));
  await changeStep(trx, refOf(payment), step, { set });
}

const MAX_ANSWER_LENGTH = 200;

/** Says for support what the gateway has answered. */
function wordsOf(answer: Exclude<QueryResult, Verdict>): string {
  switch (answer.outcome) {
    case 'pending':
      return 'it has not ended yet';
    case 'notFound':
      return 'the gateway does not know it';
    case 'asked':
      return 'the gateway has taken the question, and answers with a callback';
    case 'noAnswer':
      return storableText(`no answer: ${answer.reason}`, MAX_ANSWER_LENGTH);
  }
}

/** Submits what has surely not arrived. Otherwise asks again. */
async function stepAfterNotFound(
  trx: Transaction,
  { payment, askedAt }: Question,
  { resubmit, settlingWindowMs }: ResubmitRule,
  pollFirstMs: number,
): Promise<StepChange> {
  const isSafe = resubmit === 'safe';
  if (isSafe) await countNotFound(trx, payment, askedAt, settlingWindowMs);
  const mayGo = !(await mayHaveArrived(trx, payment)) && !(await isToldAsDone(trx, payment));
  if (mayGo) return submitStep(payment);
  return isSafe ? pollSoonStep(payment, pollFirstMs) : pollStep(payment, pollFirstMs);
}
