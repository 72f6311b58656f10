import { requirePayments } from '../../domain/support/find-payments.ts';
import {
  DELIVERY_STATUSES,
  listDeliveries,
  UNDELIVERED,
} from '../../domain/webhooks/list-deliveries.ts';
import { ENDPOINT_STATES, listAllEndpoints } from '../../domain/webhooks/list-endpoints.ts';
import { attemptsOf, type Webhook } from '../../domain/webhooks/webhook-file.ts';
import { optional, UsageError } from '../../operations/field.ts';
import { checkPeriod, period } from '../../operations/period.ts';
import * as read from '../../operations/readers.ts';
import {
  probeEndpoints,
  recoverWebhooks,
  resendWebhook,
  WEBHOOK,
} from '../../operations/webhook.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists } from '../output/answers.ts';
import { endpointKey, endpointView } from '../output/endpoints.ts';
import {
  attemptDocument,
  nextWords,
  webhookDocument,
  webhookLines,
  webhookView,
} from '../output/webhooks.ts';
import { type Noun, reads } from '../verb.ts';

const MAX_TEXT_LENGTH = 200;
const [EXHAUSTED] = UNDELIVERED;

const list = lists(webhookView, read.uuid, {
  role: 'support',
  summary: 'Lists the webhooks that have not reached their merchant, or those of a payment',
  notes:
    'Oldest first; --since and --until are about the times of their events. exhausted: every attempt has failed, and none follows by itself. stopped: the receiver answered 410. pending: attempts follow, or it is parked. delivered: the receiver has taken it; only with --payment. LAST ANSWER: the status of the answer to the last attempt, or the error without one.',
  options: {
    status: optional(
      'status',
      read.oneOf(DELIVERY_STATUSES),
      `Those in this state. Default: ${EXHAUSTED}, or all with --payment`,
    ),
    merchant_id: read.ofMerchant,
    ...period,
    payment: optional(
      'payment',
      read.text('WHAT', MAX_TEXT_LENGTH),
      'Only those of the payments that payment show finds, such as by phone',
    ),
  },
  check: ({ status, payment, ...given }) => {
    checkPeriod(given);
    if (status !== 'delivered' || payment !== undefined) return;
    throw new UsageError('--status delivered needs --payment: most webhooks are delivered');
  },
  read: async ({ database }, { payment: what, status, ...page }) => {
    if (what === undefined)
      return listDeliveries(database, { ...page, status: status ?? EXHAUSTED });
    const payments = await requirePayments(database, { what, merchant_id: page.merchant_id });
    return listDeliveries(database, { ...page, status, payments });
  },
});

const endpoints = lists(endpointView, endpointKey, {
  role: 'support',
  summary: 'Lists the receivers of merchants with their state, why, and how many webhooks wait',
  notes:
    'Those that are held come first. held: five attempts in a row have failed, so its webhooks wait, and one at a time is sent as a probe. failing: the last attempt has failed. working: it has not. An endpoint is scheme, host and port of callback addresses of one merchant, and is listed from its first attempt on. LAST FAILURE is the status of the answer, or the error without one, also of one that works by now.',
  options: {
    merchant_id: read.ofMerchant,
    state: optional('state', read.oneOf(ENDPOINT_STATES), 'Only those in this state'),
  },
  read: ({ database }, page) => listAllEndpoints(database, page),
});

const show = reads({
  role: 'support',
  summary: 'Shows one webhook: body, status, every attempt, and when and why the next one comes',
  options: WEBHOOK.fields,
  argument: WEBHOOK.argument,
  run: async (service, names) => {
    const webhook = await WEBHOOK.find(service, names);
    const attempts = await attemptsOf(service.database, webhook);
    const attempts_made = attempts.map(attemptDocument);
    const document = { ...webhookDocument(webhook), attempts_made };
    return { data: document, lines: webhookLines(document, `Webhook ${webhook.id}`) };
  },
});

const { resend } = verbsOf([resendWebhook], () => ({
  document: (row) => webhookDocument(row as Webhook),
  lines: ({ row }) => [`  next  ${nextWords(row as Webhook)}`],
}));

export const webhooks: Noun = {
  summary: 'What merchants were told',
  verbs: { list, show, resend: resend!, endpoints, ...verbsOf([recoverWebhooks, probeEndpoints]) },
};
