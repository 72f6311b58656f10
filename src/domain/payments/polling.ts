import { type Database, inTransaction, type Transaction } from '../../database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { QueryResult, Verdict } from '../gateway-results.ts';
import { transition } from '../transition.ts';
import { countNotFound } from './attempts.ts';
import { reportIfOverdue } from './overdue.ts';
import { isOpen } from './payment.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
  refOf,
} from './payment-store.ts';
import { pollSoonStep, pollStep, submitStep } from './schedule.ts';
import { type Settlement, settle } from './settle.ts';

/** How often a gateway must say "not found" before it is believed. */
const NOT_FOUND_CONFIRMATIONS = 3;

/** What of a gateway decides whether a reference may go again. */
export interface ResubmitRule {
  resubmit: 'safe' | 'never';
  settlingWindowMs: number;
}

/** @returns the payment to ask about, or null when this job has been overtaken. */
export async function findPaymentToPoll(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
): Promise<AnyPayment | null> {
  const payment = await findPayment(database, ref);
  const due = payment?.step_no === stepNo && payment.next_step === 'poll' && isOpen(payment);
  return due ? payment : null;
}

/**
 * Records the gateway's answer to a question about a payment. A verdict is a fact and
 * always applied; the rest only plans the next step, if this job is still the one to do so.
 */
export async function recordQuery(
  database: Database,
  asked: AnyPayment,
  result: QueryResult,
  rule: ResubmitRule,
  pollFirstMs: number,
): Promise<void> {
  await inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, refOf(asked));
    if (!payment) throw new Error(`${asked.kind} ${asked.id} is gone`);
    if (result.outcome === 'succeeded' || result.outcome === 'failed') {
      await settleByAnswer(trx, payment, result);
      await askAgainIfOpen(trx, asked, pollFirstMs);
    } else if (payment.step_no === asked.step_no) {
      await planNext(trx, payment, result.outcome, rule, pollFirstMs);
    }
  });
}

/**
 * Applies the answer to a question that was asked while the payment was open. A failure is
 * overtaken when the success became known while it was on its way, not contrary to it.
 */
export async function settleByAnswer(
  trx: Transaction,
  payment: AnyPayment,
  answer: Verdict,
): Promise<Settlement> {
  const isOvertaken = answer.outcome === 'failed' && payment.status === 'completed';
  return isOvertaken ? 'repeat' : settle(trx, payment, answer, 'poll');
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
  payment: AnyPayment,
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
