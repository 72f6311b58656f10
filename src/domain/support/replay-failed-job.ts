import { rows, type Transaction } from '../../connections/database.ts';
import { queueOf, STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep, type StepChange } from '../../jobs/outbox.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../payments/payment-store.ts';
import { POLL_NOW, REFUND_STEP, submitStep } from '../payments/schedule.ts';
import { mayHaveArrived } from '../submission/attempts.ts';
import { isTooLate } from '../submission/claim-submission.ts';
import {
  decideReplay,
  type PaymentFacts,
  REPLAY_STEPS,
  type ReplayAction,
  type ReplayDecision,
} from './decide-replay.ts';
import { casesOf } from './discrepancy-cases.ts';
import { type FailedJob, listFailedJobs } from './failed-job-store.ts';

/** A failed job as it was, and the effect that its replay has or would have. */
export type Replay = ReplayDecision & { job: FailedJob };

/** Tells the effect of a replay, and locks the rows that it would change. */
export async function planReplay(trx: Transaction, job: FailedJob): Promise<Replay> {
  return (await plan(trx, job)).replay;
}

/**
 * Gives the row of a failed job the step that is right for it now. A payment whose earlier
 * attempt may have arrived is asked about, never sent. A second replay, even at the same time,
 * does nothing and says so.
 */
export async function replayFailedJob(
  trx: Transaction,
  job: FailedJob,
  actor: string,
): Promise<Replay> {
  const { replay, payment } = await plan(trx, job);
  if (replay.action === undefined) return replay;
  const { kind, merchant_id, row_id: id } = job;
  await changeStep(trx, { kind, merchant_id, id }, stepFor(replay.action, payment));
  await rows(
    trx,
    `UPDATE failed_jobs
     SET replayed_at = now(), replayed_by = :actor, replayed_step = :step WHERE id = :id`,
    { id: job.id, actor, step: REPLAY_STEPS[replay.action] },
  );
  return replay;
}

async function plan(
  trx: Transaction,
  { id, kind, merchant_id, row_id }: FailedJob,
): Promise<{ replay: Replay; payment: AnyPayment | null }> {
  // Locks before it reads, so that the second of two replays at once sees the first.
  const payment =
    kind === 'callback' || kind === 'webhook'
      ? await lockMessage(trx, kind, { merchant_id, row_id })
      : ((await lockPayment(trx, { kind, merchant_id, id: row_id })) ?? null);
  const page = { order: 'newest first', limit: 1 } as const;
  const [job] = await listFailedJobs(trx, { ids: [id] }, page);
  if (!job) throw new Error(`Failed job ${id} is gone`);
  const decision = decideReplay(job, payment && (await factsOf(trx, payment)));
  return { replay: { ...decision, job }, payment };
}

async function lockMessage(
  trx: Transaction,
  kind: 'callback' | 'webhook',
  message: Pick<FailedJob, 'merchant_id' | 'row_id'>,
): Promise<null> {
  const { table, id } = STEP_TABLES[kind];
  await rows(
    trx,
    `SELECT 1 FROM ${table} WHERE merchant_id = :merchant_id AND ${id} = :row_id FOR UPDATE`,
    message,
  );
  return null;
}

async function factsOf(trx: Transaction, payment: AnyPayment): Promise<PaymentFacts> {
  const discrepancies = await casesOf(trx, refOf(payment));
  return {
    status: payment.status,
    awaitsRefund: payment.kind === 'payout' && awaitsRefund(payment),
    mayHaveArrived: await mayHaveArrived(trx, payment),
    isTooLate: isTooLate(payment),
    openDiscrepancies: discrepancies
      .filter(({ resolved_at }) => resolved_at === null)
      .map((found) => found.kind),
  };
}

function stepFor(action: ReplayAction, payment: AnyPayment | null): StepChange {
  switch (REPLAY_STEPS[action]) {
    case 'submit':
      return submitStep(payment!);
    case 'poll':
      return POLL_NOW;
    case 'refund':
      return REFUND_STEP;
    case 'process':
      return { next: 'process', queue: queueOf('callback', 'process'), delayMs: 0 };
    case 'deliver':
      // The dispatcher admits it when there is room at its endpoint.
      return { next: 'deliver', queue: null, delayMs: 0 };
  }
}
