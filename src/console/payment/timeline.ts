import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PaymentFile, Row } from '../../domain/support/payment-file.ts';
import { kes } from '../shell/money.tsx';
import type { Tone } from '../shell/status.tsx';
import type { Veil } from '../shell/veil.ts';

/** One thing that happened to a payment. */
export interface Moment {
  at: Date;
  /** Where it comes from, in one word or two. */
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
  const from = payment.asked_ip === null ? [] : [`from ${payment.asked_ip}`];
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
      : 'It began by itself: late money goes back';
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
