import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import { formatAmount, kes } from '../../domain/money.ts';
import { asShown, REVERSAL_STATES } from '../../domain/payments/kinds.ts';
import { isOpen } from '../../domain/payments/payment.ts';
import { type AnyPayment, accountOf } from '../../domain/payments/payment-store.ts';
import type { PaymentFile, Row } from '../../domain/support/payment-file.ts';
import type { PaymentStep } from '../../domain/support/payment-steps.ts';
import { VEILED, type Veil } from '../../domain/veil.ts';
import { JOB_FAILED, type StepName } from '../../jobs/job-types.ts';
import { nairobiTime } from '../shell/links.tsx';
import type { Tone } from '../shell/status.tsx';
import type { FileWithRequests } from './payment-file.tsx';

/** One thing that happened to a payment. */
export interface Moment {
  at: Date;
  /** Its source, in one word or two. */
  source: string;
  what: string;
  details: string[];
  tone: Tone;
}

/** Merges everything that is stored about a payment into one list, oldest first. */
export function timelineOf(file: PaymentFile, veil: Veil): Moment[] {
  const moments = [
    request(file, veil),
    ...file.attempts.flatMap((row) => attempt(row, veil)),
    ...lastQuestion(file.payment, veil),
    ...file.callbacks.map((row) => callback(row, veil)),
    ...file.history.filter(({ from_status }) => from_status !== null).map(move),
    ...file.movements.map((row) => movement(row, veil)),
    ...file.journals.map(booking),
    ...file.failedJobs.map(({ failed_at, queue, step, error }) =>
      moment(
        failed_at,
        'job',
        `A job failed for good (${step}, queue ${queue})`,
        [veil.text(error)],
        'bad',
      ),
    ),
    ...file.discrepancies.map(({ opened_at, kind, id }) =>
      moment(opened_at, 'discrepancy', DISCREPANCY_KINDS[kind], [`${kind} ${id}`], 'warn'),
    ),
    ...file.events.map((row) =>
      moment(row.created_at, 'event', `The event ${row.type} was made`, [`webhook-id ${row.id}`]),
    ),
    ...file.deliveryAttempts.map((row) => delivery(row, veil)),
    ...file.decisions.map(({ happened_at, actor, action, reason }) =>
      moment(
        happened_at,
        'staff',
        `${actor}: ${action}`,
        reason === null ? [] : [veil.text(reason)],
      ),
    ),
  ];
  // A sort keeps the order of what happened in the same moment.
  return moments.sort((one, other) => one.at.getTime() - other.at.getTime());
}

function moment(
  at: unknown,
  source: string,
  what: string,
  details: string[] = [],
  tone: Tone = 'plain',
): Moment {
  return { at: at as Date, source, what, details, tone };
}

function request({ payment, askedBy, history: [first] }: PaymentFile, veil: Veil): Moment {
  const { asked_app_name, asked_user_email, asked_user_name } = askedBy;
  const { asked_ip, asked_request } = payment;
  const from = [
    ...(asked_ip === null ? [] : [`from ${asked_ip}`]),
    ...(asked_request === null ? [] : [`request ${veil.text(asked_request)}`]),
  ];
  const who =
    asked_user_email !== null
      ? `The person ${veil.name(asked_user_name ?? asked_user_email)}`
      : payment.asked_app !== null
        ? `The app ${payment.asked_app} (${asked_app_name})`
        : null;
  const what = who
    ? `${who} asked for it`
    : first?.cause === 'support'
      ? 'Support began it'
      : 'The service began it: late money goes back';
  return moment(payment.created_at, 'request', what, from);
}

const MOVES: Readonly<Record<string, Tone>> = { completed: 'good', failed: 'bad' };

function move({ happened_at, from_status, to_status, cause }: Row): Moment {
  const what = `${from_status} → ${to_status}`;
  return moment(happened_at, 'status', what, [`by ${cause}`], MOVES[String(to_status)]);
}

const RESULTS: Readonly<Record<string, [words: string, tone: Tone]>> = {
  acknowledged: ['acknowledged it', 'plain'],
  declined: ['declined it', 'bad'],
  not_taken: ['did not take it', 'warn'],
  unknown: ['gave no clear answer: it may have arrived', 'warn'],
  ruled_out: ['said several times that it does not have it: it never arrived', 'warn'],
};

function attempt(row: Row, veil: Veil): Moment[] {
  const { attempt_no, started_at, answered_at, result, detail, not_found_count } = row;
  const sent = moment(started_at, 'gateway', `Attempt ${attempt_no} was sent to the gateway`);
  if (!answered_at) {
    return [{ ...sent, details: ['No answer is recorded: it may have arrived'], tone: 'warn' }];
  }
  const [words, tone] = RESULTS[String(result)] ?? ['answered', 'plain'];
  const details = [
    ...(detail ? [veil.text(String(detail))] : []),
    ...(Number(not_found_count) > 0 ? [`asked later, “not found” ${not_found_count} times`] : []),
  ];
  const answer = `The gateway ${words} (attempt ${attempt_no})`;
  return [sent, moment(answered_at, 'gateway', answer, details, tone)];
}

/** The newest question to the gateway that did not end the payment. */
function lastQuestion({ last_answer, last_asked_at }: AnyPayment, veil: Veil): Moment[] {
  if (last_answer === null) return [];
  return [moment(last_asked_at, 'gateway', `Last asked: ${veil.text(last_answer)}`)];
}

const CALLBACKS: Readonly<Record<string, string>> = {
  stored: 'It waits to be applied',
  processed: 'It was applied',
  rejected: 'It was rejected',
};

/** A body has the customer's phone, and often the name. */
function callback({ received_at, status, problem, body }: Row, veil: Veil): Moment {
  const details = [
    CALLBACKS[String(status)] ?? String(status),
    ...(problem ? [veil.text(String(problem))] : []),
    ...(veil.isLifted ? [String(body)] : []),
  ];
  return moment(received_at, 'callback', 'The gateway called back', details);
}

function movement(row: Row, veil: Veil): Moment {
  const { learned_at, trans_id, amount_cents, account, booked } = row;
  const details = [
    `receipt ${trans_id ?? 'unknown'}, ${account ? veil.account(String(account)) : 'no account'}`,
    `books: ${String(booked).replaceAll('_', ' ')}`,
  ];
  const tone = booked === 'suspense' ? 'warn' : 'good';
  return moment(learned_at, 'money', `${kes(Number(amount_cents))} moved`, details, tone);
}

function booking({ created_at, source_kind, kind, entries }: PaymentFile['journals'][number]) {
  const lines = entries.map(
    ({ account, amount_cents }) => `${account} ${formatAmount(amount_cents)}`,
  );
  return moment(created_at, 'books', `Booked: ${source_kind} ${kind}`, lines);
}

function delivery(row: Row, veil: Veil): Moment {
  const { attempted_at, attempt_no, response_status, error, duration_ms } = row;
  const isTaken = Number(response_status) >= 200 && Number(response_status) < 300;
  const answer = response_status ?? veil.text(String(error));
  const what = `Attempt ${attempt_no} of the webhook: ${answer}`;
  return moment(attempted_at, 'webhook', what, [`${duration_ms} ms`], isTaken ? 'good' : 'bad');
}

/** Names a payment as its merchant does. A merchant may have put a phone into the name. */
export function nameOf(payment: AnyPayment, veil: Veil = VEILED): string {
  return `${payment.kind} ${'ref_no' in payment ? veil.numbers(payment.ref_no) : payment.id}`;
}

const STEPS: Readonly<Record<StepName, string>> = {
  submit: 'it is sent to the gateway',
  poll: 'the gateway is asked how it ended',
  refund: 'amount and fee go back into the payout wallet',
  process: 'a callback of the gateway is applied',
  deliver: 'the merchant is told by webhook',
};

/** Says the next step and its time, or the reason to wait, in one sentence each. */
export function nextWords(file: FileWithRequests): string[] {
  const { payment, hold, pause, steps } = file;
  const planned = steps.map(stepWords);
  const brakes = [
    ...(hold === null ? [] : [`But it is not sent now: ${hold}.`]),
    ...(pause === null ? [] : ['But it is not sent now: its channel is paused.']),
  ];
  const isAsked = file.discrepancies.some(({ resolved_at }) => resolved_at === null);
  const waits = [
    ...(payment.parked_reason === null ? [] : [parkedWords(payment.parked_reason)]),
    ...(payment.parked_reason === null && isAsked
      ? ['Somebody must decide: something does not add up. Open the discrepancy below.']
      : []),
    ...file.requests.map(
      ({ requested_by }) =>
        `${requested_by} has asked for a decision. A colleague must approve it, under “Approvals”.`,
    ),
  ];
  const said = [...waits, ...planned, ...brakes];
  return said.length > 0 ? said : ['Nothing: it has ended, and nothing is left to do.'];
}

function stepWords({ step, due_at, is_due, in_outbox, is_admitted }: PaymentStep): string {
  const what = STEPS[step];
  if (!is_due) return `On ${nairobiTime(due_at)} ${what}.`;
  if (in_outbox) return `Now ${what}. Its job waits for the dispatcher.`;
  if (!is_admitted) return `Now ${what}, as soon as the receiver works and has a free place.`;
  return `Now ${what}. A worker has its job, or takes it next.`;
}

function parkedWords(reason: string): string {
  return reason.startsWith(JOB_FAILED)
    ? 'It waits for a person: a job of it has failed for good. Replay it below.'
    : 'It waits for a person: something does not add up. Decide the discrepancy below.';
}

/** Tells the merchant in plain words how a payment stands. It says no more than the API does. */
export function summaryFor(file: PaymentFile, veil: Veil): string {
  const payment = file.payment.kind === 'payout' ? asShown(file.payment) : file.payment;
  const { amount_cents, created_at } = payment;
  const direction = payment.kind === 'collection' ? 'from' : 'to';
  const account = veil.account(accountOf(payment));
  const opening = `${capital(nameOf(payment, veil))} of ${kes(amount_cents)} ${direction} ${account}, asked for on ${nairobiTime(created_at)} (Nairobi).`;
  return [
    opening,
    ...stateWords(payment, file, veil),
    ...doubtWords(file),
    ...webhookWords(file),
  ].join(' ');
}

function stateWords(payment: AnyPayment, { payment: stored }: PaymentFile, veil: Veil): string[] {
  const { status, result_description, trans_id, payment_completed_at } = payment;
  if (status === 'completed') {
    const at = payment_completed_at ? ` on ${nairobiTime(payment_completed_at)}` : '';
    const receipt = trans_id === null ? '' : ` The receipt of the network is ${trans_id}.`;
    return [`It has completed${at}.${receipt}`, ...(refundWords(stored) ?? [])];
  }
  if (status === 'failed') {
    const why =
      result_description === null ? '' : `: ${veil.text(result_description.replace(/\.$/, ''))}`;
    return [`It has failed${why}.`, ...(refundWords(stored) ?? [])];
  }
  const label = payment.kind === 'reversal' ? REVERSAL_STATES[status].label : status;
  const late = isOpen(payment) && payment.overdue ? ' It takes longer than usual.' : '';
  return [
    `It is ${label}: its outcome is not known yet.${late}`,
    'You need not do anything. Please do not send it again under another reference.',
  ];
}

/** The service returns money that came too late. A person decides about contradictions. */
function doubtWords({ payment, related, discrepancies }: PaymentFile): string[] {
  const returns =
    payment.kind === 'collection' ? related.filter(({ kind }) => kind === 'return') : [];
  const isOpenQuestion = discrepancies.some(({ resolved_at }) => resolved_at === null);
  return [
    ...returns.map(({ amount_cents, status }) => {
      const how = status === 'completed' ? 'has gone back' : 'goes back';
      return `Money came after the failure: ${kes(amount_cents)} ${how} to the customer.`;
    }),
    ...(payment.parked_reason?.startsWith(JOB_FAILED)
      ? ['A fault of ours holds it up. It is not lost, and goes on when the fault is mended.']
      : []),
    ...(isOpenQuestion ? ['Something about it is not clear yet: we look into it.'] : []),
  ];
}

function refundWords(payment: AnyPayment): string[] | null {
  if (payment.kind !== 'payout' || payment.refund_posted_at === null) return null;
  const at = nairobiTime(payment.refund_posted_at);
  return payment.redebited_at === null
    ? [`Amount and fee went back into your payout wallet on ${at}.`]
    : ['Amount and fee have been taken from your payout wallet again, because it had arrived.'];
}

function webhookWords({ events }: PaymentFile): string[] {
  const last = events.at(-1) as { status: string | null; delivered_at: Date | null } | undefined;
  if (!last?.status) return [];
  if (last.delivered_at)
    return [`Your receiver took our webhook on ${nairobiTime(last.delivered_at)}.`];
  const isTrying = last.status === 'pending';
  return [
    `Your receiver has not taken our webhook${isTrying ? ' yet; we go on trying' : ', and we have stopped trying'}.`,
  ];
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
