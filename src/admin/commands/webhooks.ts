import {
  type ListedDelivery,
  listDeliveries,
  UNDELIVERED,
} from '../../domain/webhooks/list-deliveries.ts';
import { withDefault } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { lists, type View } from '../output/answers.ts';
import { rowDocument, shortened } from '../output/document.ts';
import type { Noun } from '../verb.ts';

const webhookView: View<ListedDelivery> = {
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

const list = lists(webhookView, read.uuid, {
  summary: 'Lists the webhooks that have not reached their merchant, oldest first',
  notes:
    'exhausted: every attempt has failed, and none follows by itself. stopped: the receiver answered 410. pending: attempts follow, or it is parked. LAST ANSWER: the status of the answer to the last attempt, or the error without one.',
  options: {
    status: withDefault(
      'status',
      read.oneOf(UNDELIVERED),
      `Those in this state. Default: ${UNDELIVERED[0]}`,
      UNDELIVERED[0],
    ),
    merchant_id: read.ofMerchant,
  },
  read: ({ database }, page) => listDeliveries(database, page),
});

export const webhooks: Noun = { summary: 'What merchants were told', verbs: { list } };
