import { MAX_COUNT } from '../../domain/lists.ts';
import * as records from '../../records/webhooks.ts';
import * as bodies from '../schemas/bodies.ts';
import * as queries from '../schemas/queries.ts';
import { ADMIN, countUpTo, type Endpoint, envelope, MONEY } from './endpoint.ts';

/** The most webhooks that one request sends again. */
export const MAX_RECOVERED = 1_000;

/** The endpoints by which merchants see their events and webhooks, and send them again. */
export const webhooksEndpoints = {
  listEvents: {
    method: 'get',
    path: '/events',
    summary: 'Read your events in order',
    description:
      'The feed to catch up from: every event after `after`, ascending by `sequence`, with the body of its webhook. Remember the highest `sequence` that you have processed, and ask for what comes after it. Numbers are given after the commit and in order: no event ever appears below a number that you have read, so you miss none. `next` is null when there is no more for now. `previous` is always null.',
    roles: MONEY,
    query: queries.events,
    answer: envelope(records.feedEvent.schema, countUpTo(MAX_COUNT, 'Events after `after`')),
  },
  listWebhooks: {
    method: 'get',
    path: '/webhooks/deliveries',
    summary: 'List webhooks with what became of them',
    description:
      'Newest first. A webhook is listed as soon as its event has a number. Follow `next`: it stays in step while webhooks are added.',
    roles: MONEY,
    query: queries.webhookDeliveries,
    answer: envelope(records.listedDelivery.schema, countUpTo(MAX_COUNT)),
  },
  getWebhook: {
    method: 'get',
    path: '/webhooks/deliveries/{id}',
    summary: 'Get one webhook',
    description:
      'Its body, every attempt with what your receiver answered, and when and why the next one comes. The id is the `webhook-id`.',
    roles: MONEY,
    answer: records.deliveryDetail.schema,
    refusals: [['webhook_not_found']],
  },
  resendWebhook: {
    method: 'post',
    path: '/webhooks/deliveries/{id}/resend',
    summary: 'Send one webhook again',
    description:
      'Now, whatever became of it, under the same `webhook-id` and with the same body. The waits after failures begin anew. One that is under way or due stays as it is: `resent` is false. If its receiver is held, the receiver is tried at once.',
    roles: ADMIN,
    answer: records.resentDelivery.schema,
    refusals: [['webhook_not_found']],
  },
  recoverWebhooks: {
    method: 'post',
    path: '/webhooks/recover',
    summary: 'Send again what you did not take',
    description: `All webhooks of a time that you have never taken: those that were given up, and those whose next attempt is not due yet. Oldest first, ${MAX_RECOVERED.toLocaleString('en')} at most: while \`remaining\` is not 0, ask again. A receiver that is held is tried at once. Those that you stopped with 410 are left out, and so are those that wait for our support (\`waits_for\` is \`support\`): send these again one by one. Each goes once, under its own \`webhook-id\`, however often you ask.`,
    roles: ADMIN,
    body: bodies.recovery,
    answer: records.recovered,
  },
  listWebhookEndpoints: {
    method: 'get',
    path: '/webhooks/endpoints',
    summary: 'List your receivers with their state',
    description:
      'Those that do not work first. The order changes as their states do. An endpoint (scheme, host and port of your callback URLs) is listed from its first attempt on, until thirteen months without one.',
    roles: MONEY,
    query: queries.webhookEndpoints,
    answer: envelope(records.webhookEndpoint.schema),
  },
  testWebhook: {
    method: 'post',
    path: '/webhooks/test',
    summary: 'Try your receiver',
    description:
      'Sends one example to `callback_url` now, and answers with what came back. It is signed as the webhooks of the app are. `notification` says `test` and `webhook.test`, the fields are those of a collection, and all values are made up: there is no payment. `X-Service-Event-Sequence` is 0. Nothing is recorded, and nothing is sent again. One at a time; each of our processes counts its own.',
    roles: ADMIN,
    takesNoKey: true,
    body: bodies.webhookTest,
    answer: records.testedWebhook.schema,
    refusals: [
      ['app_not_found'],
      ['field_required', 'app_code'],
      ['webhook_test_running'],
      ['signing_secret_missing'],
    ],
  },
} as const satisfies Record<string, Endpoint>;
