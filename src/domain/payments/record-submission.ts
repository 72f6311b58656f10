import { type Database, inTransaction, type Transaction } from '../../database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { SubmitResult } from '../gateway-results.ts';
import { transition } from '../transition.ts';
import { type AttemptResult, answerAttempt } from './attempts.ts';
import type { SubmissionClaim } from './claim-submission.ts';
import { isOpen } from './payment.ts';
import { type AnyPayment, fillEmpty, lockPayment, refOf } from './payment-store.ts';
import { pollStep, submitStep } from './schedule.ts';
import { settle } from './settle.ts';

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
