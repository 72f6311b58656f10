import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import type { ParserOf, SubmitResult } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import {
  type AnyPayment,
  fillEmpty,
  lockedByKey,
  refOf,
  withPaymentLocked,
} from '../payments/payment-store.ts';
import { pollStep, submitStep } from '../payments/schedule.ts';
import { moving, transition } from '../payments/transition.ts';
import { askAfterFailure } from '../settlement/after-failure.ts';
import { explainRenamed } from '../settlement/explain-unknown.ts';
import { movementsOf } from '../settlement/movements.ts';
import { settle } from '../settlement/settle.ts';
import {
  type AttemptResult,
  acknowledgedReferences,
  answerAttempt,
  countAttempts,
  keepReference,
} from './attempts.ts';
import type { SubmissionClaim } from './claim-submission.ts';

/** The parts that recording the answer of a gateway needs. */
export interface Recording {
  /** The time until the next question, at the earliest. */
  pollFirstMs: number;
  /** Reads the payment's stored callbacks, which are applied before a failure. */
  parserOf: ParserOf;
}

/**
 * A claim that was too old to be called. Nothing was sent. The gateway is still asked
 * before the payment goes again, because much may have happened since the claim.
 */
export interface NotCalled {
  outcome: 'notCalled';
  reason: string;
}

/**
 * Records the result of the call, even when the payment has moved on meanwhile. An old attempt
 * changes no step: the payment goes on by its newer one. Only an acknowledgement counts at any
 * time. It says that the gateway has the payment, so nothing may be sent any more.
 */
export async function recordSubmission(
  database: Database,
  claim: SubmissionClaim,
  result: SubmitResult | NotCalled,
  recording: Recording,
): Promise<void> {
  if (result.outcome === 'acknowledged' && claim.attemptNo === 1) {
    const { pollFirstMs } = recording;
    if (await acknowledgeAtOnce(database, claim.payment, result, pollFirstMs)) return;
  }
  await withPaymentLocked(database, refOf(claim.payment), async (trx, payment) => {
    if (!payment) throw new Error(`${claim.payment.kind} ${claim.payment.id} is gone`);
    const { attemptNo } = claim;
    const attempt = ATTEMPT_RESULTS[result.outcome];
    const answer = { detail: detailOf(result), external_ref: referenceIn(result) };
    const isNews = await answerAttempt(trx, payment, attemptNo, attempt, answer);
    if (!isNews && attempt !== 'acknowledged') return;
    if (!isNews || attemptNo > 1) await compareReferences(trx, payment, attemptNo, answer);
    await applyResult(trx, payment, attemptNo, result, recording);
  });
}

/**
 * Records that the gateway has acknowledged the first attempt of a payment that has not moved on
 * since its claim: the common case, in one statement that does all or nothing.
 * @returns false when it may have moved on: then nothing has changed.
 */
export async function acknowledgeAtOnce(
  database: Database,
  payment: AnyPayment,
  { externalRef }: Extract<SubmitResult, { outcome: 'acknowledged' }>,
  pollFirstMs: number,
): Promise<boolean> {
  const { moved, bindings } = moving(
    payment,
    {
      to: 'processing',
      set: { external_ref: externalRef },
      step: pollStep(payment, pollFirstMs),
      cause: 'submission',
    },
    'EXISTS (SELECT FROM answered)',
  );
  return hasRow(
    database,
    `WITH ${lockedByKey(payment.kind)}, unmoved AS (
       SELECT * FROM locked
       WHERE step_no = :step_no_before AND status = :from_status AND parked_reason IS NULL
         AND external_ref IS NULL
     ), answered AS (
       UPDATE attempts a SET result = 'acknowledged', answered_at = now(),
         external_ref = :set_external_ref
       FROM unmoved
       WHERE a.merchant_id = unmoved.merchant_id AND a.payment_kind = '${payment.kind}'
         AND a.payment_id = unmoved.id AND a.attempt_no = 1 AND a.result IS NULL
       RETURNING a.attempt_no
     ), ${moved}
     SELECT FROM moved`,
    { ...bindings, step_no_before: payment.step_no },
  );
}

const ATTEMPT_RESULTS: Readonly<Record<(SubmitResult | NotCalled)['outcome'], AttemptResult>> = {
  acknowledged: 'acknowledged',
  declined: 'declined',
  notTaken: 'not_taken',
  notCalled: 'not_taken',
  unknown: 'unknown',
};

function detailOf(result: SubmitResult | NotCalled): string | null {
  if ('code' in result) return result.operatorTrouble ?? `${result.code} ${result.description}`;
  return 'reason' in result ? result.reason : null;
}

function referenceIn(result: SubmitResult | NotCalled): string | null {
  return result.outcome === 'acknowledged' ? result.externalRef : null;
}

/** Reports a gateway that has taken two attempts of a payment: it may move the money twice. */
async function compareReferences(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  { external_ref }: { external_ref: string | null },
): Promise<void> {
  if (external_ref === null) return;
  await keepReference(trx, payment, attemptNo, external_ref);
  const references = new Set(await acknowledgedReferences(trx, payment));
  if (references.size === 1) return;
  await openDiscrepancy(trx, {
    kind: 'taken_twice',
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details: { external_refs: [...references].sort() },
  });
}

type Acknowledged = Extract<SubmitResult, { outcome: 'acknowledged' }>;

async function applyResult(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  result: SubmitResult | NotCalled,
  { pollFirstMs, parserOf }: Recording,
): Promise<void> {
  switch (result.outcome) {
    case 'acknowledged':
      await explainMoved(trx, payment, result);
      if (payment.status !== 'pending') {
        return recordLateAcknowledgement(trx, payment, attemptNo, result, pollFirstMs);
      }
      await transition(trx, payment, {
        to: 'processing',
        set: { external_ref: result.externalRef ?? payment.external_ref },
        step: pollStep(await withoutUntaken(trx, payment), pollFirstMs),
        cause: 'submission',
      });
      return;
    case 'declined':
      await settle(
        trx,
        payment,
        { ...result, outcome: 'failed' },
        { cause: 'submission', parserOf },
      );
      return;
    case 'notTaken':
      // Another job may ask about it meanwhile. Nothing arrived, so the payment goes again.
      if (payment.status === 'pending' && payment.next_step !== null) {
        await changeStep(trx, refOf(payment), submitStep(payment, attemptNo, result.retryAfterMs));
      }
      return;
    case 'notCalled':
    case 'unknown':
      if (isOpen(payment)) await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
  }
}

/** Money that came before may have been booked by hand, or adopted, under the reference that is acknowledged now. */
async function explainMoved(
  trx: Transaction,
  payment: AnyPayment,
  { externalRef: external_ref }: Acknowledged,
): Promise<void> {
  if (payment.external_ref !== null || external_ref === null) return;
  for (const movement of await movementsOf(trx, payment)) {
    if (movement.booked === 'undone') continue;
    await explainRenamed(trx, payment, { ...movement, external_ref });
  }
}

/** Takes a payment off the support list that waited there because no gateway had taken it. */
async function withoutUntaken(trx: Transaction, payment: AnyPayment): Promise<AnyPayment> {
  if (payment.parked_reason === null) return payment;
  const wasUntaken = await supersedeDiscrepancies(trx, refOf(payment), ['never_taken']);
  return wasUntaken ? { ...payment, parked_reason: null } : payment;
}

/**
 * Records an acknowledgement of a payment that is not pending any more. It contradicts a failure,
 * unless the gateway's own callback has overtaken it: that is simply the end of the same call.
 */
async function recordLateAcknowledgement(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  { externalRef }: Acknowledged,
  pollFirstMs: number,
): Promise<void> {
  await fillEmpty(trx, payment, { external_ref: externalRef });
  if (payment.status !== 'failed') return;
  // A failure under another reference was about something else.
  const isSame = payment.external_ref === null || payment.external_ref === externalRef;
  if (isSame && (await wasFailedByCallback(trx, payment))) return;
  // The money has shown already, so there is nothing to ask.
  const moved = await movementsOf(trx, payment);
  if (moved.some(({ booked }) => booked !== 'undone')) return;
  // The gateway is asked about what it has acknowledged. It may have failed another attempt.
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table} SET external_ref = coalesce(:external_ref, external_ref)
     WHERE merchant_id = :merchant_id AND id = :id`,
    { ...refOf(payment), external_ref: externalRef },
  );
  const acknowledged = { attempt: attemptNo, external_ref: externalRef };
  await askAfterFailure(trx, payment, acknowledged, pollFirstMs);
}

function wasFailedByCallback(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM payment_history
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND to_status = 'failed' AND cause = 'callback'`,
    payment,
  );
}

/**
 * Records a call that ended in a bug of the driver. The request may have left, so the gateway is
 * asked before the next try. After the last try the step stays, since the failed job parks the row.
 * @returns whether this was the last try.
 */
export async function recordBug(
  database: Database,
  { payment: claimed, attemptNo }: SubmissionClaim,
  message: string,
  { pollFirstMs, tries }: { pollFirstMs: number; tries: number },
): Promise<boolean> {
  return withPaymentLocked(database, refOf(claimed), async (trx, payment) => {
    if (!payment) throw new Error(`${claimed.kind} ${claimed.id} is gone`);
    const isNews = await answerAttempt(trx, payment, attemptNo, 'unknown', {
      detail: `${BUG}${message}`,
    });
    if (!isNews || !isOpen(payment)) return false;
    const isLast = (await countAttempts(trx, payment, BUG)) >= tries;
    if (!isLast) await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
    return isLast;
  });
}

/** Begins the detail of an attempt whose driver threw. */
const BUG = 'bug of the driver: ';

const PARKED_UNTAKEN = 'overdue: the gateway has not taken it';

/** Tells whether a payment is parked because it could not be sent before its deadline. */
export function isParkedUntaken({ parked_reason }: AnyPayment): boolean {
  return parked_reason === PARKED_UNTAKEN;
}

/** Puts a payment on the support list. Support may fail it, since no attempt was taken. */
export async function parkUntaken(trx: Transaction, payment: AnyPayment): Promise<void> {
  await changeStep(trx, refOf(payment), { park: PARKED_UNTAKEN });
  await exchangeFinding(trx, payment, 'overdue', 'never_taken');
}

/** Lists a parked payment as overdue again, because it may have been sent after all. */
export async function doubtUntaken(trx: Transaction, payment: AnyPayment): Promise<void> {
  await exchangeFinding(trx, payment, 'never_taken', 'overdue');
}

/** The same finding would not open a second time. After more attempts it is another one. */
async function exchangeFinding(
  trx: Transaction,
  payment: AnyPayment,
  before: 'overdue' | 'never_taken',
  kind: 'overdue' | 'never_taken',
): Promise<void> {
  await supersedeDiscrepancies(trx, refOf(payment), [before]);
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details: {
      deadline_at: payment.deadline_at.toISOString(),
      attempts: await countAttempts(trx, payment),
    },
  });
}
