import { asShown, REVERSAL_STATES } from '../../domain/payments/kinds.ts';
import { isOpen } from '../../domain/payments/payment.ts';
import { type AnyPayment, accountOf } from '../../domain/payments/payment-store.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import type { PaymentStep } from '../../domain/support/payment-steps.ts';
import { JOB_FAILED, type StepName } from '../../jobs/job-types.ts';
import { kes } from '../shell/money.tsx';
import { nairobiTime } from '../shell/time.tsx';
import type { Veil } from '../shell/veil.ts';

/** Names a payment as its merchant does. */
export function nameOf(payment: AnyPayment): string {
  return `${payment.kind} ${'ref_no' in payment ? payment.ref_no : payment.id}`;
}

const STEPS: Readonly<Record<StepName, string>> = {
  submit: 'it is sent to the gateway',
  poll: 'the gateway is asked how it ended',
  refund: 'amount and fee go back into the payout wallet',
  process: 'a callback of the gateway is applied',
  deliver: 'the merchant is told by webhook',
};

/** Says what happens next and when, or what it waits for. One sentence each. */
export function nextWords(file: PaymentFile): string[] {
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
  const opening = `${capital(nameOf(payment))} of ${kes(amount_cents)} ${direction} ${account}, asked for on ${nairobiTime(created_at)} (Nairobi).`;
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

/** Money that came too late goes back by itself, and what does not add up is for a person. */
function doubtWords({ payment, related, discrepancies }: PaymentFile): string[] {
  const returns =
    payment.kind === 'collection' ? related.filter(({ kind }) => kind === 'return') : [];
  const isOpenQuestion = discrepancies.some(({ resolved_at }) => resolved_at === null);
  return [
    ...returns.map(({ amount_cents, status }) => {
      const how = status === 'completed' ? 'has gone back' : 'goes back';
      return `Money came all the same: ${kes(amount_cents)} ${how} to the customer.`;
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
