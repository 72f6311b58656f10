import { MAX_COUNT } from '../domain/lists.ts';
import { type AttemptOutcome, isTaken } from '../domain/webhooks/delivery.ts';
import { DELIVERY_STATUSES } from '../domain/webhooks/list-deliveries.ts';
import {
  ENDPOINT_STATES,
  MAX_WAITING_COUNTED,
  type OwnEndpoint,
} from '../domain/webhooks/list-endpoints.ts';
import type { FeedEvent, OwnDelivery } from '../domain/webhooks/list-own-deliveries.ts';
import { WAITS, waitOf } from '../domain/webhooks/next-words.ts';
import { END_STATES, ENDING_KINDS } from '../domain/webhooks/prepare-deliveries.ts';
import type { Webhook, WebhookAttempt } from '../domain/webhooks/webhook-file.ts';
import { column, computed, recordOf } from './record.ts';
import * as is from './schema.ts';
import { collectionEnded } from './webhook-body.ts';

/** The records of events, webhooks and receivers. */

export const EVENT_NAMES = END_STATES.map((state) => `transaction.${state}`);

const WEBHOOK_ID = '01a1f87d-8c11-7d0e-9a54-1b2f6e0c7a3d';

/** A time or null. In most examples nothing has happened yet. */
function timeOrNull(description: string, example: string | null = null): is.Schema {
  return is.timeOrNull(`${description}. ISO 8601, UTC`, example);
}

const error = is.stringOrNull('Why there was no answer; null when there was one', null);
const statusOfAnswer = is.integerOrNull('The status of your answer; null without one', 503);
const duration = is.integer('How long it took, in milliseconds', 143);
const eventNumber = 'The number of the event, in the header `X-Service-Event-Sequence`';
const eventName = is.oneOf(EVENT_NAMES, 'How the payment ended', EVENT_NAMES[0]);
const paymentKind = is.oneOf(ENDING_KINDS, 'The kind of the payment', 'collection');

const event = {
  id: is.idOf('The id of the event, in the header `webhook-id`', WEBHOOK_ID),
  sequence: is.integer(eventNumber, 42),
  event: column('type', eventName),
  type: column('payment_kind', paymentKind),
  payment_id: is.idOf('The id of the payment'),
  ref_no: is.described(
    is.nullable(is.reversalRefNo),
    'Your reference of the payment',
    'order-1001',
  ),
  created_at: is.time('The time of the event. ISO 8601, UTC'),
};

const payloadSchema = is.described(
  { type: 'object' },
  'The body of the webhook, as JSON. To verify a signature you need the bytes received',
  is.exampleOf(collectionEnded),
);
const payload = computed(payloadSchema, ({ body }: Pick<Webhook, 'body'>) => JSON.parse(body));

/** An event in the feed. */
export const feedEvent = recordOf<FeedEvent>()({ ...event, payload });

const delivery = {
  ...event,
  callback_url: is.described(is.callbackUrl, 'Where it is POSTed'),
  status: is.oneOf(
    DELIVERY_STATUSES,
    '`pending`: attempts follow. `delivered`: you have taken it. `exhausted`: every attempt failed, and none follows by itself. `stopped`: you answered 410',
    'pending',
  ),
  attempts: is.integer('Attempts so far, those before a resend included', 1),
  delivered_at: timeOrNull('The first time that you took it; null before'),
  last_attempt_at: timeOrNull(
    'The last attempt; null before the first, and some months after the last',
    '2026-11-20T09:30:01.000Z',
  ),
  last_status: is.integerOrNull('The status of your last answer; null without one', 503),
  last_error: error,
  next_attempt_at: timeOrNull(
    'The next attempt comes then, or later when it has to wait; null when none follows',
    '2026-11-20T09:30:06.000Z',
  ),
};

/** A webhook with its delivery, in a list. */
export const listedDelivery = recordOf<OwnDelivery>()(delivery);

const attempt = recordOf<WebhookAttempt>()({
  attempt: column('attempt_no', is.integer('The number of the attempt', 1)),
  attempted_at: is.time('The end of the attempt. ISO 8601, UTC'),
  duration_ms: duration,
  status: column('response_status', statusOfAnswer),
  error,
  answer: is.stringOrNull(
    'The first 1,024 bytes of your answer’s body; null without an answer',
    'upstream is down',
  ),
});

/** A detail shows at most this many attempts, the newest. */
export const MAX_ATTEMPTS_SHOWN = 100;

/** A webhook with its attempts, oldest first. */
export function deliveryFile(webhook: Webhook, attempts: WebhookAttempt[]) {
  const last = attempts.at(-1);
  return {
    ...webhook,
    last_attempt_at: last?.attempted_at ?? null,
    last_status: last?.response_status ?? null,
    last_error: last?.error ?? null,
    waits_for: waitOf(webhook),
    attempts_made: attempts,
  };
}

const waits = Object.entries(WAITS).map(([wait, words]) => `\`${wait}\`: ${words}.`);

type DeliveryFile = ReturnType<typeof deliveryFile>;

const detail = {
  ...delivery,
  endpoint: is.endpoint,
  waits_for: is.oneOf(
    [...Object.keys(WAITS), null],
    `What the next attempt waits for; null when none follows. ${waits.join(' ')}`,
    'retry',
  ),
  waits_for_description: computed(
    is.stringOrNull('The same in words', WAITS.retry),
    ({ waits_for }: DeliveryFile) => waits_for && WAITS[waits_for],
  ),
  payload,
  attempts_made: computed(
    {
      type: 'array',
      items: attempt.schema,
      description: `Each attempt, oldest first: the newest ${MAX_ATTEMPTS_SHOWN} of the last months`,
    },
    ({ attempts_made }: DeliveryFile) => attempts_made.map(attempt.present),
  ),
};

/** A webhook with its body and its attempts. */
export const deliveryDetail = recordOf<DeliveryFile>()(detail);

const isResent = 'False when it was under way or due already: then nothing was changed';

/** A webhook that its merchant has had sent again. */
export const resentDelivery = recordOf<DeliveryFile & { resent: boolean }>()({
  resent: is.boolean(isResent, true),
  ...detail,
});

const stillOut = `Webhooks of the same time that do not yet: ask again. Counts up to ${MAX_COUNT}`;

/** The schema of the answer about a recovery. */
export const recovered = is.object({
  resent: is.integer('Webhooks that go out again now', 12),
  remaining: is.integer(stillOut, 0),
});

/** A receiver, with what the attempts have told about it. */
export const webhookEndpoint = recordOf<OwnEndpoint>()({
  endpoint: is.endpoint,
  state: is.oneOf(
    ENDPOINT_STATES,
    '`working`; `failing`: the last attempt failed; `held`: five or more failed in a row, so webhooks wait, and one at a time is tried',
    'held',
  ),
  failing_since: timeOrNull('The first failure in a row', '2026-11-20T09:30:00.000Z'),
  held_since: column(
    'opened_at',
    timeOrNull('Webhooks wait since then', '2026-11-20T09:31:00.000Z'),
  ),
  failures: is.integer('Attempts that failed in a row', 5),
  last_status: is.integerOrNull(
    'The status of the last answer that was a failure; null without an answer',
    503,
  ),
  last_error: is.stringOrNull(
    'Why there was no answer at the last failure; null when there was one',
    null,
  ),
  last_failure_at: timeOrNull('The last failure', '2026-11-20T09:31:00.000Z'),
  last_success_at: timeOrNull('The last success', '2026-11-20T09:29:00.000Z'),
  next_probe_at: column(
    'probe_at',
    timeOrNull('When the next one is tried, while it is held', '2026-11-20T09:31:10.000Z'),
  ),
  waiting: is.integer(
    `Webhooks that wait for it. Counted up to ${MAX_WAITING_COUNTED.toLocaleString('en')}: then there may be more`,
    7,
  ),
  concurrency: is.integer('Webhooks that may be under way to it at the same time', 1),
});

/** The answer of a receiver that was sent the example with the id `webhook_id`. */
export const testedWebhook = recordOf<AttemptOutcome & { webhook_id: string }>()({
  delivered: computed(is.boolean('Your receiver answered 2xx', true), ({ status }) =>
    isTaken(status),
  ),
  status: is.integerOrNull('The status of its answer; null without one', 200),
  error,
  duration_ms: computed(duration, ({ durationMs }) => Math.round(durationMs)),
  answer: is.stringOrNull(
    'The first 1,024 bytes of the answer’s body; null without an answer',
    'ok',
  ),
  webhook_id: is.idOf('The `webhook-id` of the example. It is found nowhere else', WEBHOOK_ID),
});
