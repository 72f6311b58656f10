import { type Database, rows } from '../../src/connections/database.ts';
import type { QueryResult, SubmitResult } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import {
  claimSubmission,
  type SubmissionClaim,
} from '../../src/domain/submission/claim-submission.ts';
import {
  type Question,
  type ResubmitRule,
  recordQuery,
} from '../../src/domain/submission/polling.ts';
import { type NotCalled, recordSubmission } from '../../src/domain/submission/record-submission.ts';
import { rewrite } from './database.ts';
import { newsOf, parserOf, reread } from './payments.ts';

export const POLL_FIRST_MS = 5_000;
export const RECORDING = { pollFirstMs: POLL_FIRST_MS, parserOf };
/** What a decision of support needs. */
export const RESOLVING = {
  ...RECORDING,
  commissionDefaults: { bps: 150, fixedCents: 0 },
  payoutFeeDefaults: { bps: 0, fixedCents: 250 },
};
export const SAFE = { resubmit: 'safe', settlingWindowMs: 0, answerWindowMs: 0 } as const;
export const NEVER = { ...SAFE, resubmit: 'never' } as const;
export const ACKNOWLEDGED: SubmitResult = { outcome: 'acknowledged', externalRef: 'GW-1' };
export const DECLINED: SubmitResult = {
  outcome: 'declined',
  code: 1,
  description: 'Insufficient funds',
  externalRef: 'GW-1',
};
export const NOT_TAKEN: SubmitResult = { outcome: 'notTaken', reason: 'ECONNREFUSED' };
export const UNKNOWN: SubmitResult = { outcome: 'unknown', reason: 'timeout' };
export const NOT_FOUND: QueryResult = { outcome: 'notFound' };

interface Attempt {
  attempt_no: number;
  result: string | null;
  not_found_count: number;
}

/** A question about a payment that is asked now. */
export function asking(payment: AnyPayment): Question {
  return { payment, askedAt: new Date() };
}

let latest = 0;

/** A date has no microseconds: this one is surely later than all that the database has done, and than any before. */
function justNow(): Date {
  latest = Math.max(Date.now(), latest) + 1;
  return new Date(latest);
}

/** What a worker does around its calls to the gateway for one payment, without the calls. */
export function workOn(database: Database, payment: AnyPayment) {
  const current = () => reread(database, payment);

  const attempts = () =>
    rows<Attempt>(
      database,
      `SELECT attempt_no, result, not_found_count FROM attempts
       WHERE payment_id = :id ORDER BY attempt_no`,
      { id: payment.id },
    );

  return {
    current,
    attempts,
    /** As the job of the step that the payment has now, or of another one. */
    async claim(stepNo?: number, allPaused = false): Promise<SubmissionClaim | null> {
      const { step_no } = await current();
      return claimSubmission(database, refOf(payment), stepNo ?? step_no, {
        pollFirstMs: POLL_FIRST_MS,
        gateways: ['simulator'],
        allPaused,
      });
    },
    /** What the call brought. */
    answer: (claimed: SubmissionClaim | null, result: SubmitResult | NotCalled) =>
      recordSubmission(database, claimed!, result, RECORDING),
    /** What a question brought; gives the payment afterwards. */
    async hear(result: QueryResult, rule: ResubmitRule = SAFE): Promise<AnyPayment> {
      const question = { payment: await current(), askedAt: justNow() };
      const heard = result.outcome === 'succeeded' ? newsOf(question.payment, result) : result;
      await recordQuery(database, question, heard, rule, RECORDING);
      return current();
    },
    results: async () => (await attempts()).map(({ result }) => result),
    setAttempts: (assignments: string) =>
      rewrite(database, `UPDATE attempts SET ${assignments} WHERE payment_id = :id`, {
        id: payment.id,
      }),
  };
}

export type Work = ReturnType<typeof workOn>;
