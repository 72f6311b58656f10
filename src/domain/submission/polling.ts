import {
  type Database,
  firstRow,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { IS_READ_ONLY, requireWritable } from '../../connections/database-errors.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { QueryResult } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
  refOf,
} from '../payments/payment-store.ts';
import { pollSoonStep, pollStep, submitStep } from '../payments/schedule.ts';
import { transition } from '../payments/transition.ts';
import { settle } from '../settlement/settle.ts';
import { countNotFound } from './attempts.ts';
import { reportIfOverdue } from './overdue.ts';

/** How often a gateway must say "not found" before it is believed. */
const NOT_FOUND_CONFIRMATIONS = 3;

/** What of a gateway decides whether a reference may go again. */
export interface ResubmitRule {
  resubmit: 'safe' | 'never';
  settlingWindowMs: number;
}

/** A payment that a gateway is asked about, and since when, by the database's clock. */
export interface Question {
  payment: AnyPayment;
  askedAt: Date;
}

/**
 * @returns what to ask, or null when the payment has ended.
 * @throws an outage while the database can only be read: no answer could be recorded.
 */
export async function questionAbout(database: Database, ref: PaymentRef): Promise<Question | null> {
  const now = await firstRow<{ at: Date; isReadOnly: boolean }>(
    database,
    `SELECT clock_timestamp() AS at, ${IS_READ_ONLY} AS "isReadOnly"`,
  );
  const payment = await findPayment(database, ref);
  if (!payment || !isOpen(payment)) return null;
  requireWritable(now!);
  return { payment, askedAt: now!.at };
}

/** @returns the payment to ask about, or null when this job has been overtaken. */
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
 * Records the gateway's answer to a question about a payment. A verdict is a fact and
 * always applied; the rest only plans the next step, if this job is still the one to do so.
 */
export async function recordQuery(
  database: Database,
  { payment: asked, askedAt }: Question,
  result: QueryResult,
  rule: ResubmitRule,
  pollFirstMs: number,
): Promise<void> {
  await inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, refOf(asked));
    if (!payment) throw new Error(`${asked.kind} ${asked.id} is gone`);
    if (result.outcome === 'succeeded' || result.outcome === 'failed') {
      await settle(trx, payment, result, 'poll', askedAt);
      await askAgainIfOpen(trx, asked, pollFirstMs);
    } else if (payment.step_no === asked.step_no) {
      await planNext(trx, { payment, askedAt }, result.outcome, rule, pollFirstMs);
    }
  });
}

/** News that is known, or that only a person can use, does not end a payment: its step goes on. */
async function askAgainIfOpen(
  trx: Transaction,
  asked: AnyPayment,
  pollFirstMs: number,
): Promise<void> {
  const payment = await findPayment(trx, refOf(asked));
  if (!payment || !isOpen(payment) || payment.step_no !== asked.step_no) return;
  await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
}

async function planNext(
  trx: Transaction,
  { payment, askedAt }: Question,
  outcome: 'pending' | 'notFound' | 'noAnswer' | 'asked',
  rule: ResubmitRule,
  pollFirstMs: number,
): Promise<void> {
  const again = pollStep(payment, pollFirstMs);
  await reportIfOverdue(trx, payment, `the gateway says ${outcome}`);
  if (outcome === 'pending' && payment.status === 'pending') {
    // The acknowledgement was lost, but this is one: the gateway has it.
    await transition(trx, payment, { to: 'processing', step: again, cause: 'poll' });
    return;
  }
  if (outcome === 'notFound' && rule.resubmit === 'safe' && payment.status === 'pending') {
    const ruledOut = await countNotFound(
      trx,
      payment,
      askedAt,
      rule.settlingWindowMs,
      NOT_FOUND_CONFIRMATIONS,
    );
    if (ruledOut) {
      await changeStep(trx, refOf(payment), submitStep(payment));
      return;
    }
    await changeStep(trx, refOf(payment), pollSoonStep(payment, pollFirstMs));
    return;
  }
  await changeStep(trx, refOf(payment), again);
}
