import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { asShown } from '../../domain/payments/kinds.ts';
import { isOpen, type PaymentStatus } from '../../domain/payments/payment.ts';
import { PAYMENT_KINDS, type PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { journalDocument } from '../../domain/support/decide-discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import type { FailedJob } from '../../domain/support/failed-job-store.ts';
import { findPayments } from '../../domain/support/find-payments.ts';
import { listForSupport } from '../../domain/support/list-for-support.ts';
import { type PaymentFile, readPaymentFile } from '../../domain/support/payment-file.ts';
import { flag, optional, required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { lists, recordLines, type View } from '../output/answers.ts';
import { discrepancies } from '../output/discrepancies.ts';
import { rowDocument, shortened } from '../output/document.ts';
import { failedJobs, sinceThen } from '../output/failed-jobs.ts';
import { moment, render, table } from '../output/table.ts';
import { type Answer, type Lines, type Noun, reads } from '../verb.ts';

const MAX_REFERENCE_LENGTH = 200;
/** A search with more hits must be narrowed anyway. */
const MAX_HITS = 100;
/** These columns drive jobs and tell support nothing. */
const INNER = ['step_no', 'step_swept_at'];

const payments: View<PaymentSummary> = {
  what: 'payment',
  keyOf: ({ id }) => id,
  document: (row) => rowDocument(row),
  columns: [
    ...(['kind', 'merchant_id', 'id', 'ref_no', 'status', 'amount_cents', 'account'] as const),
    'created_at',
    ['NEEDS SUPPORT', needOf],
  ],
};

function needOf({ parked_reason, overdue, deadline_at }: PaymentSummary): string {
  const late = overdue ? [`overdue since ${moment(deadline_at)}`] : [];
  const parked = parked_reason === null ? [] : [`parked: ${parked_reason}`];
  return [...parked, ...late].join('; ');
}

const reference = read.text('WHAT', MAX_REFERENCE_LENGTH);
const narrowing = {
  merchant_id: read.ofMerchant,
  kind: optional('kind', read.oneOf(PAYMENT_KINDS), 'Only those of this kind'),
};

const list = lists(payments, read.uuid, {
  summary: 'Lists the payments that need support: parked or overdue, oldest first',
  options: {
    ...narrowing,
    parked: flag('parked', 'Only those that do not go on by themselves'),
    overdue: flag('overdue', 'Only those that have not ended in time'),
  },
  read: ({ database }, page) => listForSupport(database, page),
});

const show = reads({
  summary: 'Shows everything about one payment, or lists those that match',
  notes:
    'WHAT is a ref_no, an id, our reference at the gateway, a receipt of the network, a reference of the gateway, or the webhook-id of a notification. Write --what=-… for one that begins with a dash.',
  options: {
    what: required('what', reference, 'Something that names the payment'),
    ...narrowing,
  },
  argument: 'what',
  run: async ({ database }, search) => {
    const hits = await findPayments(database, { ...search, limit: MAX_HITS + 1 });
    const [hit] = hits;
    if (!hit) throw new OperatorRefusal(`No payment is known by ${JSON.stringify(search.what)}`);
    if (hits.length > 1) return several(hits);
    return fileAnswer((await readPaymentFile(database, hit))!);
  },
});

function several(hits: PaymentSummary[]): Answer {
  const shown = hits.slice(0, MAX_HITS);
  const more = hits.length > MAX_HITS;
  const title = more
    ? `It may be one of more than ${MAX_HITS} payments; say which with --merchant or --kind:`
    : `It may be one of ${shown.length} payments; say which with --merchant, --kind or its id:`;
  return {
    data: { payments: shown.map(payments.document), more },
    lines: [title, table(shown, payments.columns)],
  };
}

function fileAnswer(file: PaymentFile): Answer {
  const { payment } = file;
  const documents = (rows: object[]) => rows.map((row) => rowDocument(row));
  const data = {
    payment: {
      ...rowDocument(payment, INNER),
      open: isOpen(payment),
      shown_status: shownStatus(payment),
      hold: file.hold,
    },
    history: documents(file.history),
    attempts: documents(file.attempts),
    movements: documents(file.movements),
    journals: file.journals.map(journalDocument),
    events: documents(file.events),
    delivery_attempts: documents(file.deliveryAttempts),
    callbacks: documents(file.callbacks),
    failed_jobs: file.failedJobs.map(failedJobs.document),
    discrepancies: file.discrepancies.map(discrepancies.document),
    related: documents(file.related),
  };
  const { discrepancies: _, ...shown } = { ...data, failed_jobs: file.failedJobs.map(jobRow) };
  return {
    data,
    lines: [
      `${payment.kind} ${payment.id} of merchant ${payment.merchant_id} is ${stateOf(file)}`,
      render(shown),
      file.discrepancies.map(discrepancyLines),
    ],
  };
}

function discrepancyLines(found: DiscrepancyCase): Lines {
  const commands = found.allowed.map(
    (as) => `  discrepancy resolve ${found.id} --as ${as} --reason …`,
  );
  const title = commands.length > 0 && ['', 'Resolve it with one of:'];
  return ['', recordLines(discrepancies, found), title, commands];
}

function stateOf({ payment, hold }: PaymentFile): string {
  const { status, overdue, next_step, next_step_at, parked_reason } = payment;
  const shown = shownStatus(payment);
  const known = shown === status ? status : `${status}, shown as ${shown}`;
  const state = overdue ? `${known}, overdue` : known;
  if (parked_reason !== null) return `${state}, parked: ${shortened(parked_reason)}`;
  if (next_step === null || next_step_at === null) return state;
  const next = `${state}; next: ${next_step} at ${moment(next_step_at)}`;
  return hold === null ? next : `${next}, but ${hold}`;
}

/** Returns the status that the merchant sees. */
function shownStatus(payment: PaymentFile['payment']): PaymentStatus {
  return payment.kind === 'payout' ? asShown(payment).status : payment.status;
}

function jobRow(job: FailedJob) {
  const { id, failed_at, queue, step, error } = failedJobs.document(job);
  return { id, failed_at, queue, step, error, since_then: sinceThen(job) };
}

export const payment: Noun = {
  summary: 'Payments of all merchants, for support',
  verbs: { list, show },
};
