import { JOB_FAILED, type StepName } from '../../jobs/job-types.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import type { FailedJob } from './failed-job-store.ts';

/** The actions of a replay, and the step that each gives the row. */
export const REPLAY_STEPS = {
  /** Nothing of it has arrived at the gateway. */
  send: 'submit',
  /** The same, but its deadline is past. The submission puts it on the support list, unsent. */
  report_untaken: 'submit',
  /** The gateway has it, perhaps although it has failed here. */
  ask: 'poll',
  /** An attempt may have arrived. It goes again only if the gateway rules that out. */
  ask_not_send: 'poll',
  refund: 'refund',
  apply: 'process',
  deliver: 'deliver',
} as const satisfies Readonly<Record<string, StepName>>;
export type ReplayAction = keyof typeof REPLAY_STEPS;

/**
 * The reasons not to replay a failed job.
 * - replayed: it was replayed before. If that failed too, there is a newer failed job.
 * - gone: its row is not there any more.
 * - ended: its row is final.
 * - moved_on: its row has a next step again.
 * - failed_since: a later job of its row has failed. Replay that one.
 * - parked_otherwise: its row is parked for another reason.
 * - discrepancy: its payment has an open discrepancy, which somebody must decide first.
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

/** The facts about the payment of a failed job. The payment is locked. */
export interface PaymentFacts {
  status: PaymentStatus;
  /** It failed, and its refund is not posted. */
  awaitsRefund: boolean;
  /** The gateway may have it from an earlier attempt. */
  mayHaveArrived: boolean;
  /** Its deadline is past, so it must not be sent any more. */
  isTooLate: boolean;
  openDiscrepancies: DiscrepancyKind[];
}

export type ReplayCandidate = Pick<
  FailedJob,
  'kind' | 'state' | 'replayed_at' | 'row_status' | 'row_next_step' | 'row_parked_reason'
>;

/**
 * Decides the action of a replay from the state of the row now. The step that failed need not
 * be the right one any more.
 * @param payment is null for callbacks, webhooks, and rows that are gone.
 */
export function decideReplay(job: ReplayCandidate, payment: PaymentFacts | null): ReplayDecision {
  const refusal = refusalOf(job, payment);
  if (refusal) return { refusal };
  if (payment) return { action: actionForPayment(payment) };
  return { action: job.kind === 'callback' ? 'apply' : 'deliver' };
}

function refusalOf(job: ReplayCandidate, payment: PaymentFacts | null): ReplayRefusal | null {
  if (job.replayed_at !== null) return 'replayed';
  if (job.row_status === null) return 'gone';
  if (isOver(job, payment)) return 'ended';
  if (job.row_next_step !== null) return 'moved_on';
  if (!job.row_parked_reason?.startsWith(JOB_FAILED)) return 'parked_otherwise';
  if (job.state !== 'waiting') return 'failed_since';
  if (payment && isTaken(payment)) return null;
  // An overdue payment's next step goes on, here as elsewhere.
  const isUndecided = payment?.openDiscrepancies.some((kind) => kind !== 'overdue');
  return isUndecided ? 'discrepancy' : null;
}

/** Tells whether the gateway has taken a payment that failed here. A question harms nothing. */
function isTaken({ status, openDiscrepancies }: PaymentFacts): boolean {
  return status === 'failed' && openDiscrepancies.includes('taken_after_failure');
}

function isOver({ kind, row_status }: ReplayCandidate, payment: PaymentFacts | null): boolean {
  if (payment) {
    if (payment.status === 'completed') return true;
    return payment.status === 'failed' && !payment.awaitsRefund && !isTaken(payment);
  }
  return row_status !== (kind === 'callback' ? 'stored' : 'pending');
}

function actionForPayment(payment: PaymentFacts): ReplayAction {
  if (payment.status === 'processing' || isTaken(payment)) return 'ask';
  if (payment.awaitsRefund) return 'refund';
  if (payment.mayHaveArrived) return 'ask_not_send';
  return payment.isTooLate ? 'report_untaken' : 'send';
}
