import { asShown } from '../../domain/payments/kinds.ts';
import { isOpen, type PaymentStatus } from '../../domain/payments/payment.ts';
import { journalDocument } from '../../domain/support/decide-discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import type { FailedJob } from '../../domain/support/failed-job-store.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import type { PaymentStep } from '../../domain/support/payment-steps.ts';
import type { FoundJobs } from '../../jobs/queue-reader.ts';
import { INNER_COLUMNS } from '../../records/payments.ts';
import type { Answer, Lines } from '../verb.ts';
import { recordLines } from './answers.ts';
import { discrepancies } from './discrepancies.ts';
import { rowDocument, shortened } from './document.ts';
import { failedJobs, sinceThen } from './failed-jobs.ts';
import { channelWords, sinceWords } from './pauses.ts';
import { moment, render } from './table.ts';

/** Shows everything about a payment, with what the queues say of its jobs. */
export function fileAnswer(file: PaymentFile, found: FoundJobs): Answer {
  const { payment } = file;
  const documents = (rows: object[]) => rows.map((row) => rowDocument(row));
  const data = {
    payment: {
      ...rowDocument(payment, INNER_COLUMNS),
      open: isOpen(payment),
      shown_status: shownStatus(payment),
      hold: file.hold,
      asked_by: askedBy(file),
      ...rowDocument(file.askedBy),
    },
    channel_pause: file.pause && rowDocument(file.pause),
    jobs: file.steps.map((step, index) => jobDocument(step, found, index)),
    queues_problem: found.problem,
    outbox: documents(file.outbox),
    history: documents(file.history),
    attempts: documents(file.attempts),
    movements: documents(file.movements),
    journals: file.journals.map(journalDocument),
    events: documents(file.events),
    delivery_attempts: documents(file.deliveryAttempts),
    callbacks: documents(file.callbacks),
    failed_jobs: file.failedJobs.map(failedJobs.document),
    discrepancies: file.discrepancies.map(discrepancies.document),
    decisions: documents(file.decisions),
    related: documents(file.related),
  };
  const {
    discrepancies: _,
    queues_problem,
    ...shown
  } = { ...data, failed_jobs: file.failedJobs.map(jobRow) };
  return {
    data,
    lines: [
      `${payment.kind} ${payment.id} of merchant ${payment.merchant_id} is ${stateOf(file)}`,
      queues_problem && `It is not known which jobs are in the queues: ${queues_problem}`,
      render(shown),
      file.discrepancies.map(discrepancyLines),
    ],
  };
}

/** Who asked for it, as far as it is stored. */
function askedBy({ payment, askedBy: names, history: [first] }: PaymentFile): string {
  const { asked_user_email: email, asked_user_name: name } = names;
  if (email !== null) return name === null ? `user ${email}` : `user ${email} (${name})`;
  if (payment.asked_app !== null) return `app ${payment.asked_app} (${names.asked_app_name})`;
  if (!first) return 'not known: its history is archived';
  return first.cause === 'support' ? 'support' : 'nobody: the service gives late money back';
}

function jobDocument(step: PaymentStep, { states, problem }: FoundJobs, index: number) {
  const { kind, row_id: id, step: name, due_at, queue, in_outbox } = step;
  const state = states[index] ?? null;
  const document = rowDocument({ kind, id, step: name, due_at, queue, in_outbox, state });
  return { ...document, job: problem === null ? jobWords(step, state) : unknownJob(step) };
}

/** Says where the job of a step is. */
function jobWords(step: PaymentStep, state: string | null): string {
  if (state !== null) return `${state} in its queue`;
  if (step.in_outbox) return 'in the outbox, for the dispatcher';
  if (!step.is_due) return 'comes when the step is due';
  if (!step.is_admitted) return 'comes when its endpoint has a free place';
  return 'none: just done, or lost; the sweeper sends a lost one again';
}

function unknownJob({ in_outbox }: PaymentStep): string {
  return in_outbox ? 'in the outbox, for the dispatcher' : 'not known: the queues do not answer';
}

function discrepancyLines(found: DiscrepancyCase): Lines {
  const commands = found.allowed.map(
    (as) => `  discrepancy resolve ${found.id} --as ${as} --reason …`,
  );
  const title = commands.length > 0 && ['', 'Resolve it with one of:'];
  return ['', recordLines(discrepancies, found), title, commands];
}

function stateOf({ payment, hold, pause }: PaymentFile): string {
  const { status, overdue, next_step, next_step_at, parked_reason } = payment;
  const shown = shownStatus(payment);
  const known = shown === status ? status : `${status}, shown as ${shown}`;
  const state = overdue ? `${known}, overdue` : known;
  if (parked_reason !== null) return `${state}, parked: ${shortened(parked_reason)}`;
  if (next_step === null || next_step_at === null) return state;
  const next = `${state}; next: ${next_step} at ${moment(next_step_at)}`;
  const brakes = [
    ...(hold === null ? [] : [hold]),
    ...(pause ? [`channel ${channelWords(pause.code)} is paused ${sinceWords(pause)}`] : []),
  ];
  return brakes.length === 0 ? next : `${next}, but ${brakes.join('; and ')}`;
}

/** Returns the status that the merchant sees. */
function shownStatus(payment: PaymentFile['payment']): PaymentStatus {
  return payment.kind === 'payout' ? asShown(payment).status : payment.status;
}

function jobRow(job: FailedJob) {
  const { id, failed_at, queue, step, error } = failedJobs.document(job);
  return { id, failed_at, queue, step, error, since_then: sinceThen(job) };
}
