import type { Schema } from '../../records/schema.ts';
import * as bodies from '../../records/webhook-body.ts';
import { contentOf } from './refusals.ts';

const HEADERS: Record<string, string> = {
  'X-Service-Timestamp': 'When this attempt was sent, Unix seconds; refuse one older than 300 s',
  'X-Service-Signature':
    'Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body. An app may have a webhook secret of its own for it',
  'X-Service-Event-Sequence': 'Counts up by one per merchant',
  'webhook-id': 'The same at every attempt for one event: take each only once',
  'webhook-timestamp': 'As X-Service-Timestamp',
  'webhook-signature':
    'The signature of the Standard Webhooks convention; while secrets overlap one for each, separated by a space',
};

const TRIES =
  'Answer 2xx within 10 s, even if your own processing fails; anything else is tried again, up to 11 times over three days. 410 stops it.';

const CORRECTION =
  'If the status or the amount changes afterwards, one more follows, with a higher sequence: the last one is true.';

const AFTER_REFUND = '; of one that failed when its money is back in the wallet';

/** Describes the webhooks of the OpenAPI document. */
export function webhooks() {
  return {
    collectionEnded: webhook('collection', 'Collections', bodies.collectionEnded),
    payoutEnded: webhook('payout', 'Payouts', bodies.payoutEnded, AFTER_REFUND),
    reversalEnded: webhook('reversal', 'Reversals', bodies.reversalEnded),
    webhookTested: testWebhook(),
  };
}

function testWebhook() {
  return posted({
    operationId: 'webhookTested',
    tag: 'Events and webhooks',
    summary: 'An example for a receiver that is tried',
    description:
      'POSTed to the `callback_url` of `POST /webhooks/test`, once. All values are made up, and there is no payment: answer it as any webhook, and book nothing.',
    event: bodies.webhookTested,
  });
}

function webhook(kind: string, tag: string, event: Schema, whenFailed = '') {
  return posted({
    operationId: `${kind}Ended`,
    tag,
    summary: `A ${kind} has ended`,
    description: `POSTed to the \`callback_url\` of the ${kind}${whenFailed}. ${CORRECTION} ${TRIES}`,
    event,
  });
}

interface Posted {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  event: Schema;
}

function posted({ tag, event, ...about }: Posted) {
  return {
    post: {
      ...about,
      tags: [tag],
      security: [{ signature: [] }],
      parameters: Object.entries(HEADERS).map(([name, about]) => ({
        name,
        in: 'header',
        required: true,
        description: about,
        schema: { type: 'string' },
      })),
      requestBody: { required: true, content: contentOf(event) },
      responses: { 200: { description: 'Taken' } },
    },
  };
}
