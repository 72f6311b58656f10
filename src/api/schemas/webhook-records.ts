import { MAX_COUNT } from '../../domain/lists.ts';
import { ENDPOINT_STATES } from '../../domain/webhooks/all-endpoints.ts';
import { DELIVERY_STATUSES } from '../../domain/webhooks/list-deliveries.ts';
import { MAX_WAITING_COUNTED } from '../../domain/webhooks/list-own-deliveries.ts';
import { WAITS } from '../../domain/webhooks/next-words.ts';
import { END_STATES, ENDING_KINDS } from '../../domain/webhooks/number-events.ts';
import {
  callbackUrl,
  described,
  endpoint,
  nullable,
  record,
  reversalRefNo,
  type Schema,
  string,
  timestamp,
  uuid,
} from './fields.ts';

/** Schemas of the answers about events, webhooks and receivers. */

export const EVENT_TYPES = ENDING_KINDS;
export const EVENT_NAMES = END_STATES.map((state) => `transaction.${state}`);

const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const WEBHOOK_ID = '01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d';

/** A time or null, with null as its example: nothing has happened yet. */
function timeOrNull(description: string, example: string | null = null): Schema {
  return described(nullable(timestamp), `${description}. ISO 8601, UTC`, example);
}

const event = {
  id: described(uuid, 'The id of the event, in the header `webhook-id`', WEBHOOK_ID),
  sequence: described(
    integer,
    'The number of the event, in the header `X-Service-Event-Sequence`',
    42,
  ),
  event: {
    enum: EVENT_NAMES,
    description: 'How the payment ended',
    examples: ['transaction.completed'],
  },
  type: {
    enum: EVENT_TYPES,
    description: 'The kind of the payment',
    examples: ['collection'],
  },
  payment_id: { ...uuid, description: 'The id of the payment' },
  ref_no: described(nullable({ ...reversalRefNo }), 'Your reference of the payment', 'order-1001'),
  created_at: { ...timestamp, description: 'The time of the event. ISO 8601, UTC' },
};

const payload: Schema = {
  type: 'object',
  description:
    'The body of the webhook, as JSON. To verify a signature you need the bytes received',
  examples: [
    {
      notification: { type: 'collection', event: 'transaction.completed' },
      data: {
        id: uuid.examples[0],
        result_code: 0,
        result_description: 'The service request is processed successfully.',
        amount: '250.00',
        ref_no: 'order-1001',
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: timestamp.examples[0],
        external_ref: 'ws_CO_20112026093000',
        trans_id: 'TKJ7A1B2C3',
      },
    },
  ],
};

export const feedEvent = record({ ...event, payload });

const deliveryFields = {
  ...event,
  callback_url: { ...callbackUrl, description: 'Where it is POSTed' },
  status: {
    enum: DELIVERY_STATUSES,
    description:
      '`pending`: attempts follow. `delivered`: you have taken it. `exhausted`: every attempt failed, and none follows by itself. `stopped`: you answered 410',
    examples: ['pending'],
  },
  attempts: described(integer, 'Attempts so far, those before a resend included', 1),
  delivered_at: timeOrNull('The first time that you took it; null before'),
  last_attempt_at: timeOrNull(
    'The last attempt; null before the first, and some months after the last',
    '2026-11-20T09:30:01.000Z',
  ),
  last_status: described(
    nullable(integer),
    'The status of your last answer; null without one',
    503,
  ),
  last_error: described(nullable(string), 'Why there was no answer; null when there was one', null),
  next_attempt_at: timeOrNull(
    'The next attempt comes then, or later when it has to wait; null when none follows',
    '2026-11-20T09:30:06.000Z',
  ),
};

export const delivery = record(deliveryFields);

const attempt = record({
  attempt: described(integer, 'The number of the attempt', 1),
  attempted_at: { ...timestamp, description: 'The end of the attempt. ISO 8601, UTC' },
  duration_ms: described(integer, 'How long it took, in milliseconds', 143),
  status: described(nullable(integer), 'The status of your answer; null without one', 503),
  error: described(nullable(string), 'Why there was no answer; null when there was one', null),
  answer: described(
    nullable(string),
    'The first 1,024 bytes of your answer’s body; null without an answer',
    'upstream is down',
  ),
});

const deliveryDetailFields = {
  ...deliveryFields,
  endpoint,
  waits_for: {
    enum: [...Object.keys(WAITS), null],
    description: `What the next attempt waits for; null when none follows. ${Object.entries(WAITS)
      .map(([wait, words]) => `\`${wait}\`: ${words}.`)
      .join(' ')}`,
    examples: ['retry'],
  },
  waits_for_description: described(nullable(string), 'The same in words', WAITS.retry),
  payload,
};

/** A detail shows so many of the newest attempts. */
export const MAX_ATTEMPTS_SHOWN = 100;

const attempts_made = {
  type: 'array',
  items: attempt,
  description: `Each attempt, oldest first: the newest ${MAX_ATTEMPTS_SHOWN} of the last months`,
};

export const deliveryDetail = record({ ...deliveryDetailFields, attempts_made });

export const resentDelivery = record({
  resent: {
    ...boolean,
    description: 'False when it was under way or due already: then nothing was changed',
    examples: [true],
  },
  ...deliveryDetailFields,
  attempts_made,
});

export const recovered = record({
  resent: described(integer, 'Webhooks that go out again now', 12),
  remaining: described(
    integer,
    `Webhooks of the same time that do not yet: ask again. Counts up to ${MAX_COUNT}`,
    0,
  ),
});

export const webhookEndpoint = record({
  endpoint,
  state: {
    enum: ENDPOINT_STATES,
    description:
      '`working`; `failing`: the last attempt failed; `held`: five or more failed in a row, so webhooks wait, and one at a time is tried',
    examples: ['held'],
  },
  failing_since: timeOrNull('The first failure in a row', '2026-11-20T09:30:00.000Z'),
  held_since: timeOrNull('Webhooks wait since then', '2026-11-20T09:31:00.000Z'),
  failures: described(integer, 'Attempts that failed in a row', 5),
  last_status: described(
    nullable(integer),
    'The status of the last answer that was a failure; null without an answer',
    503,
  ),
  last_error: described(
    nullable(string),
    'Why there was no answer at the last failure; null when there was one',
    null,
  ),
  last_failure_at: timeOrNull('The last failure', '2026-11-20T09:31:00.000Z'),
  last_success_at: timeOrNull('The last success', '2026-11-20T09:29:00.000Z'),
  next_probe_at: timeOrNull(
    'When the next one is tried, while it is held',
    '2026-11-20T09:31:10.000Z',
  ),
  waiting: described(
    integer,
    `Webhooks that wait for it. Counted up to ${MAX_WAITING_COUNTED.toLocaleString('en')}: then there may be more`,
    7,
  ),
  concurrency: described(integer, 'Webhooks that may be under way to it at the same time', 1),
});

export const testedWebhook = record({
  delivered: { ...boolean, description: 'Your receiver answered 2xx', examples: [true] },
  status: described(nullable(integer), 'The status of its answer; null without one', 200),
  error: described(nullable(string), 'Why there was no answer; null when there was one', null),
  duration_ms: described(integer, 'How long it took, in milliseconds', 143),
  answer: described(
    nullable(string),
    'The first 1,024 bytes of the answer’s body; null without an answer',
    'ok',
  ),
  webhook_id: described(
    uuid,
    'The `webhook-id` of the example. It is found nowhere else',
    WEBHOOK_ID,
  ),
});
