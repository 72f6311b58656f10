import type { FailedJob } from '../../domain/support/failed-job-store.ts';
import { REPLAY_WORDS, type Replay, type ReplayRefusal } from '../../domain/support/replay-job.ts';
import type { View } from './answers.ts';
import { rowDocument, shortened } from './document.ts';
import { moment } from './table.ts';

export const failedJobs: View<FailedJob> = {
  what: 'failed job',
  keyOf: ({ id }) => id,
  document: (job) => rowDocument(job, ['step_no', 'bulk_replay_id']),
  columns: [
    ['ID', 'id'],
    ['FAILED', 'failed_at'],
    ['QUEUE', 'queue'],
    ['MERCHANT', 'merchant_id'],
    ['WHAT', (job) => `${subjectOf(job)} (${job.step})`],
    ['ERROR', 'error'],
    ['SINCE THEN', sinceThen],
  ],
};

/** Names what the job was about, as its merchant or the gateway would. */
export function subjectOf({ kind, row_id, payment_kind, payment_id, ref_no }: FailedJob): string {
  if (payment_kind === null) return `${kind} ${row_id}`;
  const payment = `${payment_kind} ${ref_no ?? payment_id}`;
  return kind === payment_kind ? payment : `${kind} of ${payment}`;
}

/** Says what has become of the job. */
export function sinceThen(job: FailedJob): string {
  switch (job.state) {
    case 'waiting':
      return 'waits for somebody';
    case 'replayed':
      return `${replayOf(job)}; now ${rowState(job)}`;
    case 'failed_again':
      return `${replayOf(job)}, and failed again`;
    case 'moved_on':
      return `has moved on: ${rowState(job)}`;
  }
}

function replayOf({ replayed_at, replayed_by, replayed_step }: FailedJob): string {
  return `replayed (${replayed_step}) at ${moment(replayed_at!)} by ${shortened(replayed_by!)}`;
}

function rowState(job: FailedJob): string {
  const { row_status, row_next_step, row_next_step_at, row_parked_reason } = job;
  if (row_status === null) return 'not there any more';
  if (row_parked_reason !== null) return `${row_status}, parked: ${shortened(row_parked_reason)}`;
  if (row_next_step === null || row_next_step_at === null) return row_status;
  return `${row_status}; next: ${row_next_step} at ${moment(row_next_step_at)}`;
}

const REFUSAL_WORDS: Readonly<Record<ReplayRefusal, (job: FailedJob) => string>> = {
  replayed: (job) => `already ${replayOf(job)}`,
  gone: () => 'not there any more',
  ended: (job) => `is final: ${rowState(job)}`,
  moved_on: (job) => `has moved on: ${rowState(job)}`,
  failed_since: () => 'a later job of it has failed: replay that one',
  parked_otherwise: (job) =>
    `is parked for another reason: ${shortened(job.row_parked_reason ?? '')}`,
  discrepancy: () => 'a discrepancy is open: decide that first, payment show names it',
};

/** Says what a replay does, or why it is refused. */
export function replayWords({ job, action, refusal }: Replay): string {
  return action === undefined ? `refused: ${REFUSAL_WORDS[refusal](job)}` : REPLAY_WORDS[action];
}
