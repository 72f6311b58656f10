import { JOB_FAILED, type StepName } from '../../jobs/job-types.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import type { FailedJob } from './failed-job.ts';

/** What replaying a failed job comes to, and the step that its row takes for it. */
export const REPLAY_STEPS = {
  /** Nothing of it has arrived at the gateway. */
  send: 'submit',
  /** Likewise, but its deadline is past: the submission puts it before support, unsent. */
  report_untaken: 'submit',
  /** The gateway has it. */
  ask: 'poll',
  /** An attempt may have arrived: it is not sent again before the gateway has ruled that out. */
  ask_not_send: 'poll',
  refund: 'refund',
  apply: 'process',
  deliver: 'deliver',
} as const satisfies Readonly<Record<string, StepName>>;
export type ReplayAction = keyof typeof REPLAY_STEPS;

/**
 * Why a failed job is not replayed.
 * - replayed: it was, once; if that failed too, there is a newer failed job.
 * - gone: its row is not there any more.
 * - ended: its row is final.
 * - moved_on: its row has a next step again.
 * - failed_since: a later job of its row has failed, which is the one to replay.
 * - parked_otherwise: its row is parked for another reason.
 * - discrepancy: something does not add up about its payment, which somebody must decide first.
 */
export const REPLAY_REFUSALS = [
  'replayed',
  'gone',
  'ended',
  'moved_on',
  'failed_since',
  'parked_otherwise',
  'discrepancy',
] as const;
export type ReplayRefusal = (typeof REPLAY_REFUSALS)[number];

export type ReplayDecision =
  | { action: ReplayAction; refusal?: never }
  | { refusal: ReplayRefusal; action?: never };

/** What is known of the payment that a failed job drove; it is locked. */
export interface PaymentFacts {
  status: PaymentStatus;
  /** It has failed, and its money is not back yet. */
  awaitsRefund: boolean;
  /** The gateway may have it from an earlier attempt. */
  mayHaveArrived: boolean;
  /** Its deadline is past, and with it the use of sending it. */
  isTooLate: boolean;
  openDiscrepancies: DiscrepancyKind[];
}

export type ReplayCandidate = Pick<
  FailedJob,
  'kind' | 'state' | 'replayed_at' | 'row_status' | 'row_next_step' | 'row_parked_reason'
>;

/**
 * What is to come of replaying a failed job, by what its row is like now: the step that
 * failed need not be the right one any more.
 * @param payment is null for callbacks, webhooks, and rows that are gone.
 */
export function decideReplay(job: ReplayCandidate, payment: PaymentFacts | null): ReplayDecision {
  const refusal = refusalOf(job, payment);
  if (refusal) return { refusal };
  return { action: payment ? actionForPayment(payment) : actionForMessage(job) };
}

function refusalOf(job: ReplayCandidate, payment: PaymentFacts | null): ReplayRefusal | null {
  if (job.replayed_at !== null) return 'replayed';
  if (job.row_status === null) return 'gone';
  if (isOver(job, payment)) return 'ended';
  if (job.row_next_step !== null) return 'moved_on';
  if (!job.row_parked_reason?.startsWith(JOB_FAILED)) return 'parked_otherwise';
  if (job.state !== 'waiting') return 'failed_since';
  return payment?.openDiscrepancies.some(mustComeFirst) ? 'discrepancy' : null;
}

function isOver({ kind, row_status }: ReplayCandidate, payment: PaymentFacts | null): boolean {
  if (payment) {
    return payment.status === 'completed' || (payment.status === 'failed' && !payment.awaitsRefund);
  }
  return row_status !== (kind === 'callback' ? 'stored' : 'pending');
}

/** Of what is only late the next step goes on, here as elsewhere. */
function mustComeFirst(kind: DiscrepancyKind): boolean {
  return kind !== 'overdue';
}

function actionForPayment(payment: PaymentFacts): ReplayAction {
  if (payment.awaitsRefund) return 'refund';
  if (payment.status === 'processing') return 'ask';
  if (payment.mayHaveArrived) return 'ask_not_send';
  return payment.isTooLate ? 'report_untaken' : 'send';
}

function actionForMessage({ kind }: ReplayCandidate): ReplayAction {
  return kind === 'callback' ? 'apply' : 'deliver';
}
