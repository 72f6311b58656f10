import { formatAmount } from '../domain/money.ts';
import { isOpen } from '../domain/payments/payment.ts';
import type { PaymentSummary } from '../domain/payments/payment-summary.ts';
import type { FailedJob } from '../domain/support/failed-job.ts';
import type { PaymentFile } from '../domain/support/payment-file.ts';
import { discrepancyDocument, journalDocument, resolveCommands } from './discrepancy-view.ts';
import { failedJobDocument, sinceThen } from './jobs-view.ts';
import type { ListView } from './lists.ts';
import { columns, fields, moment } from './output.ts';
import { rowDocument, shortened, textFields, textOf } from './support-view.ts';

/** What drives jobs and says nothing to support. */
const INNER = ['step_no', 'step_swept_at'];

export const paymentList: ListView<PaymentSummary> = {
  what: 'payment',
  keyOf: ({ id }) => id,
  document: (row) => rowDocument(row),
  titles: [
    ...['KIND', 'MERCHANT', 'ID', 'REF_NO', 'STATUS', 'AMOUNT', 'ACCOUNT', 'CREATED'],
    'NEEDS SUPPORT',
  ],
  cells: (row) => [
    row.kind,
    String(row.merchant_id),
    row.id,
    row.ref_no ?? '-',
    row.status,
    formatAmount(row.amount_cents),
    row.account,
    moment(row.created_at),
    needOf(row),
  ],
};

function needOf({ parked_reason, overdue, deadline_at }: PaymentSummary): string {
  const late = overdue ? [`overdue since ${moment(deadline_at)}`] : [];
  const parked = parked_reason === null ? [] : [`parked: ${shortened(parked_reason)}`];
  return [...parked, ...late].join('; ') || '-';
}

/** Everything about one payment, as JSON. */
export function fileDocument(file: PaymentFile) {
  const { payment } = file;
  const many = (found: object[]) => found.map((row) => rowDocument(row));
  return {
    payment: { ...rowDocument(payment, INNER), open: isOpen(payment) },
    history: many(file.history),
    attempts: many(file.attempts),
    movements: many(file.movements),
    journals: file.journals.map(journalDocument),
    event: file.event && rowDocument(file.event),
    delivery: file.delivery && rowDocument(file.delivery),
    delivery_attempts: many(file.deliveryAttempts),
    callbacks: many(file.callbacks),
    failed_jobs: file.failedJobs.map(failedJobDocument),
    discrepancies: file.discrepancies.map(discrepancyDocument),
    related: many(file.related),
  };
}

/** The same for people: sections of what there is. */
export function fileLines(file: PaymentFile): string[] {
  const document = fileDocument(file);
  const { payment, event, delivery } = document;
  const whose = `merchant ${file.payment.merchant_id}`;
  return [
    `${file.payment.kind} ${file.payment.id} of ${whose} is ${stateOf(file)}`,
    ...fields(textFields(payment)),
    ...section('History', document.history),
    ...section('Attempts to submit it', document.attempts),
    ...section('Movements of money', document.movements),
    ...section('Journals', document.journals.map(journalRow)),
    ...section('Event', event ? [event] : []),
    ...section('Webhook', delivery ? [delivery] : []),
    ...section('Attempts to deliver the webhook', document.delivery_attempts),
    ...section('Callbacks of the gateway', document.callbacks),
    ...section('Failed jobs', file.failedJobs.map(failedJobRow)),
    ...discrepancySection(file),
    ...section(
      file.payment.kind === 'collection' ? 'Reversals and returns' : 'Its collection',
      document.related,
    ),
  ];
}

function stateOf({ payment }: PaymentFile): string {
  const { status, next_step, next_step_at, parked_reason } = payment;
  const overdue = payment.overdue ? ', overdue' : '';
  if (parked_reason !== null) return `${status}${overdue}, parked: ${shortened(parked_reason)}`;
  if (next_step === null || next_step_at === null) return status;
  return `${status}${overdue}; next: ${next_step} at ${moment(next_step_at)}`;
}

function journalRow({ entries, ...journal }: ReturnType<typeof journalDocument>) {
  const lines = entries.map(({ account, amount }) => `${account} ${amount}`);
  return { ...journal, entries: lines.join(', ') };
}

function failedJobRow(job: FailedJob) {
  const { id, failed_at, queue, step, error } = failedJobDocument(job);
  return { id, failed_at, queue, step, error, since_then: sinceThen(job) };
}

function section(title: string, found: Record<string, unknown>[]): string[] {
  const [first] = found;
  if (!first) return [];
  const names = Object.keys(first).filter((name) => found.some((row) => !isEmpty(row[name])));
  const cells = found.map((row) =>
    names.map((name) => (isEmpty(row[name]) ? '-' : textOf(row[name]))),
  );
  const titles = names.map((name) => name.toUpperCase().replaceAll('_', ' '));
  return ['', `${title}:`, ...columns([titles, ...cells]).map((line) => `  ${line}`)];
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

function discrepancySection({ discrepancies }: PaymentFile): string[] {
  return discrepancies.flatMap((found) => [
    '',
    `Discrepancy ${found.id}:`,
    ...fields(textFields(discrepancyDocument(found))),
    ...resolveCommands(found),
  ]);
}
