import type { ListedDelivery } from '../../domain/webhooks/list-deliveries.ts';
import { nextWords as wordsOfNext } from '../../domain/webhooks/next-words.ts';
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
  return wordsOfNext(webhook, { moment, text: shortened });
}
