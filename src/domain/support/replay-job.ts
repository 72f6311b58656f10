import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { JOB_FAILED, queueOf, STEP_TABLES, type StepName } from '../../jobs/job-types.ts';
import { changeStep, type StepChange } from '../../jobs/outbox.ts';
import type { AuditedChange } from '../audit/audit.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { type AnyPayment, lockPayment } from '../payments/payment-store.ts';
import { isOverdue, PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { POLL_NOW, REFUND_STEP, submitStep } from '../payments/schedule.ts';
import { MAY_HAVE_ARRIVED } from '../submission/attempts.ts';
import { isTooLate } from '../submission/claim-submission.ts';
import { type FailedJob, listFailedJobs } from './failed-job-store.ts';

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

/** What a replay does, for people. */
export const REPLAY_WORDS: Readonly<Record<ReplayAction, string>> = {
  send: 'no attempt has arrived, will send it',
  report_untaken:
    'no attempt has arrived and its deadline is past, will not send it: support decides',
  ask: 'the gateway has it, will ask how it ended',
  ask_not_send: 'an attempt may have arrived, will ask the gateway, not send',
  refund: 'will refund',
  apply: 'will be applied',
  deliver: 'will deliver again',
};

/** Why there is no replay, for people. */
export const REPLAY_REFUSAL_WORDS: Readonly<Record<ReplayRefusal, string>> = {
  replayed: 'somebody has replayed it already',
  gone: 'its row is not there any more',
  ended: 'its payment, callback or webhook is final',
  moved_on: 'it has moved on meanwhile',
  failed_since: 'a later job of it has failed: replay that one',
  parked_otherwise: 'it waits for another reason',
  discrepancy: 'a discrepancy is open: decide that first',
};

/** A failed job as it was, and the effect that its replay has or would have. */
export type Replay = ReplayDecision & { job: FailedJob };

/**
 * Gives the row of a failed job the step that is right for it now. A payment whose earlier
 * attempt may have arrived is asked about, never sent. A second replay, even at the same time,
 * does nothing and says so.
 * @returns what the audit log keeps of it; nothing if it was refused
 */
export async function replayJob(
  trx: Transaction,
  failed: FailedJob,
  actor: string,
): Promise<AuditedChange<Replay>> {
  const { id, kind, merchant_id, row_id } = failed;
  // Locks before it reads, so that the second of two replays at once sees the first.
  const payment =
    kind === 'callback' || kind === 'webhook'
      ? await lockMessage(trx, kind, failed)
      : ((await lockPayment(trx, { kind, merchant_id, id: row_id })) ?? null);
  const job = await readAgain(trx, id);
  const [value] = (await foreseeReplays(trx, [job])) as [Replay];
  if (value.action === undefined) return { value, audit: null };
  await changeStep(trx, { kind, merchant_id, id: row_id }, stepFor(value.action, payment));
  await rows(
    trx,
    `UPDATE failed_jobs
     SET replayed_at = now(), replayed_by = :actor, replayed_step = :step WHERE id = :id`,
    { id, actor, step: REPLAY_STEPS[value.action] },
  );
  const { queue, ref_no, error } = job;
  const details = { queue, kind, row_id, ref_no, error, action: value.action };
  return { value, audit: { merchant_id, subject: `failed job ${id}`, details } };
}

async function readAgain(trx: Transaction, id: number): Promise<FailedJob> {
  const [job] = await listFailedJobs(trx, { ids: [id] }, { order: 'newest first', limit: 1 });
  if (job) return job;
  throw new Error(`Failed job ${id} is gone`);
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

/**
 * Tells the effect that the replay of each of many jobs would have now. It locks nothing, so
 * something may change before the replay, which decides anew.
 */
export async function foreseeReplays(
  database: Database | Transaction,
  jobs: FailedJob[],
): Promise<Replay[]> {
  const facts = new Map<string, PaymentFacts>();
  for (const kind of PAYMENT_KINDS) {
    const ofKind = jobs.filter((job) => job.kind === kind);
    if (ofKind.length === 0) continue;
    for (const found of await factsOf(database, kind, ofKind)) {
      facts.set(keyOf({ kind, merchant_id: found.merchant_id, row_id: found.id }), toFacts(found));
    }
  }
  return jobs.map((job) => ({ ...decideReplay(job, facts.get(keyOf(job)) ?? null), job }));
}

function keyOf({ kind, merchant_id, row_id }: Pick<FailedJob, 'kind' | 'merchant_id' | 'row_id'>) {
  return `${kind} ${merchant_id} ${row_id}`;
}

interface Found {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
  status: PaymentStatus;
  overdue: boolean;
  refund_posted_at: Date | null;
  may_have_arrived: boolean;
  open: DiscrepancyKind[];
}

function toFacts(found: Found): PaymentFacts {
  return {
    status: found.status,
    awaitsRefund: found.kind === 'payout' && awaitsRefund(found),
    mayHaveArrived: found.may_have_arrived,
    isTooLate: isTooLate(found),
    openDiscrepancies: found.open,
  };
}

/** Reads the facts about the payments of jobs of one kind. */
function factsOf(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  jobs: FailedJob[],
): Promise<Found[]> {
  return rows<Found>(
    database,
    `SELECT '${kind}' AS kind, t.merchant_id, t.id, t.status, ${isOverdue('t')} AS overdue,
       ${kind === 'payout' ? 't.refund_posted_at' : 'CAST(NULL AS timestamptz) AS refund_posted_at'},
       EXISTS (SELECT FROM attempts WHERE merchant_id = t.merchant_id AND payment_kind = '${kind}'
         AND payment_id = t.id AND ${MAY_HAVE_ARRIVED}) AS may_have_arrived,
       ARRAY(SELECT d.kind FROM discrepancies d WHERE d.merchant_id = t.merchant_id
         AND d.payment_kind = '${kind}' AND d.payment_id = t.id
         AND d.resolved_at IS NULL) AS open
     FROM (SELECT DISTINCT * FROM unnest(CAST(:merchant_ids AS bigint[]), CAST(:ids AS uuid[]))
       AS wanted (merchant_id, id)) AS wanted
     JOIN ${STEP_TABLES[kind].table} t ON t.merchant_id = wanted.merchant_id AND t.id = wanted.id`,
    {
      merchant_ids: jobs.map(({ merchant_id }) => merchant_id),
      ids: jobs.map(({ row_id }) => row_id),
    },
  );
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
