import type { ListedDelivery } from '../../domain/webhooks/list-deliveries.ts';
import { isDue, isUnderWay } from '../../domain/webhooks/resend-webhook.ts';
import type { Webhook, WebhookAttempt } from '../../domain/webhooks/webhook-file.ts';
import type { Lines } from '../verb.ts';
import type { View } from './answers.ts';
import { type Document, plain, rowDocument, shortened } from './document.ts';
import { moment, render } from './table.ts';

export const webhookView: View<ListedDelivery> = {
  what: 'webhook',
  keyOf: ({ id }) => id,
  document: ({ callback_url, ...row }) => ({ ...rowDocument(row), host: hostOf(callback_url) }),
  columns: [
    ['WEBHOOK-ID', 'id'],
    ['MERCHANT', 'merchant_id'],
    [
      'PAYMENT',
      ({ payment_kind, ref_no, payment_id }) => `${payment_kind} ${ref_no ?? payment_id}`,
    ],
    'type',
    ['HOST', ({ callback_url }) => hostOf(callback_url)],
    'status',
    'attempts',
    ['DELIVERED', 'delivered_at'],
    ['LAST ANSWER', ({ last_status, last_error }) => last_status ?? last_error],
    ['LAST ATTEMPT', 'last_attempt_at'],
    ['NEXT', nextOf],
  ],
};

/** Leaves out the rest of the address, which may contain a key of the merchant's own. */
function hostOf(callbackUrl: string): string {
  return new URL(callbackUrl).host;
}

function nextOf({ next_attempt_at, parked_reason }: ListedDelivery): Date | string | null {
  return parked_reason === null ? next_attempt_at : `parked: ${shortened(parked_reason)}`;
}

/** These columns drive deliveries. `next` says what they mean. */
const INNER = [
  ...['admitted_at', 'attempts_before_resend', 'is_due'],
  ...['signs_webhooks_with', 'can_be_signed'],
];

/** A webhook as JSON. The body is as it is sent. */
export function webhookDocument(webhook: Webhook): Document {
  return { ...rowDocument(webhook, INNER), body: webhook.body, next: nextWords(webhook) };
}

/** An attempt as JSON. The answer is as the receiver gave it. Lines shorten it. */
export function attemptDocument(attempt: WebhookAttempt): Document {
  return { ...rowDocument(attempt), answer: attempt.answer };
}

/** A webhook for people: its body stands whole, below everything else. */
export function webhookLines({ body, ...facts }: Document, title: string): Lines {
  return [title, render(facts), '', 'Body:', `  ${plain(String(body))}`];
}

/** Says when the next attempt comes, and why. */
export function nextWords(webhook: Webhook): string {
  const { status, attempts, next_attempt_at: at, parked_reason, can_be_signed } = webhook;
  if (parked_reason !== null) {
    return `none until somebody replays its job or resends it: ${shortened(parked_reason)}`;
  }
  switch (status) {
    case null:
      return 'the first, when the dispatcher has numbered it';
    case 'delivered':
      return 'none: the receiver has taken it';
    case 'stopped':
      return 'none: the receiver answered 410, which means that it does not want it';
    case 'exhausted':
      return `none by itself: attempt ${attempts} was the last one of the ladder`;
    case 'pending':
      if (!can_be_signed) return `attempt ${attempts! + 1}, ${secretWords(webhook)}`;
      if (isHeld(webhook)) return `attempt ${attempts! + 1}, ${heldWords(webhook)}`;
      return `attempt ${attempts! + 1}, ${whenWords(webhook)}, ${whyWords(webhook)}, at ${moment(at!)}`;
  }
}

/** Tells whether it waits for its endpoint to work. One that is under way is the probe. */
function isHeld(webhook: Webhook): boolean {
  return webhook.endpoint_probe_at !== null && !isUnderWay(webhook);
}

function heldWords(webhook: Webhook): string {
  const {
    endpoint_failing_since: since,
    endpoint_probe_at: probeAt,
    next_attempt_at: at,
  } = webhook;
  const earliest = isDue(webhook) ? '' : `not before ${moment(at!)}, `;
  return `${earliest}waits: the endpoint has failed since ${moment(since!)}, next probe ${moment(probeAt!)}`;
}

function secretWords({ app_code, signs_webhooks_with }: Webhook): string {
  const verb = signs_webhooks_with === 'own' ? 'rotate-webhook-secret' : 'rotate-secret';
  return `when its app has a secret to sign with: app ${verb} ${app_code}`;
}

function whenWords(webhook: Webhook): string {
  if (isUnderWay(webhook)) return 'under way';
  return isDue(webhook) ? 'due: the dispatcher lets it go when its endpoint has a place' : 'later';
}

function whyWords({ attempts, attempts_before_resend }: Webhook): string {
  if (attempts === 0) return 'the first';
  if (attempts === attempts_before_resend) return 'because it was resent';
  return 'because the one before has failed';
}
