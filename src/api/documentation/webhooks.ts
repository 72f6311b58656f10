import { money, phone, record, refNo, timestamp } from '../schemas/fields.ts';
import { exampleOf } from './example.ts';
import { published } from './openapi.ts';

/** What a merchant's callback address is sent when a collection has ended. */
export const collectionEvent = record({
  notification: record({
    type: { const: 'collection' },
    event: { enum: ['transaction.completed', 'transaction.failed'] },
  }),
  data: record({
    result_code: { type: 'integer', description: '0 on success', examples: [0] },
    result_description: {
      type: 'string',
      examples: ['The service request is processed successfully.'],
    },
    amount: money,
    ref_no: refNo,
    beneficiary: record({ account: phone, kyc: { type: ['string', 'null'] } }),
    transaction_date: { ...timestamp, examples: ['2026-11-20T09:30:00.000Z'] },
    external_ref: { type: 'string', examples: ['ws_CO_20112026093000'] },
    trans_id: { type: 'string', examples: ['TKJ7A1B2C3'] },
  }),
});

const HEADERS: Record<string, string> = {
  'X-Service-Timestamp': 'When this attempt was sent, Unix seconds; refuse one older than 300 s',
  'X-Service-Signature':
    'Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body',
  'X-Service-Event-Sequence': 'Counts up by one per merchant',
  'webhook-id': 'The same at every attempt for one event: take each only once',
  'webhook-timestamp': 'As X-Service-Timestamp',
  'webhook-signature': 'The signature of the Standard Webhooks convention',
};

export function webhooks() {
  return {
    collectionEnded: {
      post: {
        operationId: 'collectionEnded',
        tags: ['Collections'],
        summary: 'A collection has ended',
        description:
          'POSTed to the `callback_url` of the collection. Answer 2xx within 10 s, even if your own processing fails; anything else is tried again, up to 11 times over three days. 410 stops it.',
        parameters: Object.entries(HEADERS).map(([name, description]) => ({
          name,
          in: 'header',
          required: true,
          description,
          schema: { type: 'string' },
        })),
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: published(collectionEvent),
              example: exampleOf(collectionEvent),
            },
          },
        },
        responses: { 200: { description: 'Taken' } },
      },
    },
  };
}
