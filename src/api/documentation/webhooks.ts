import {
  money,
  phone,
  record,
  refNo,
  reversalRefNo,
  type Schema,
  timestamp,
} from '../schemas/fields.ts';
import { exampleOf } from './example.ts';
import { published } from './published.ts';

/** What a merchant's callback address is sent when a payment has ended. */
function eventOf(
  type: string,
  account: Schema,
  reference: Record<string, Schema> = { ref_no: refNo },
  more: Record<string, Schema> = {},
): Schema {
  return record({
    notification: record({
      type: { const: type },
      event: { enum: ['transaction.completed', 'transaction.failed'] },
    }),
    data: record({
      result_code: {
        type: 'integer',
        description: '0 on success; a reversal that failed has 1',
        examples: [0],
      },
      result_description: {
        type: 'string',
        examples: ['The service request is processed successfully.'],
      },
      amount: money,
      ...reference,
      beneficiary: record({ account, kyc: { type: ['string', 'null'] } }),
      transaction_date: { ...timestamp, examples: ['2026-11-20T09:30:00.000Z'] },
      external_ref: { type: 'string', examples: ['ws_CO_20112026093000'] },
      trans_id: { type: 'string', examples: ['TKJ7A1B2C3'] },
      ...more,
    }),
  });
}

const payto = {
  type: 'string',
  description: 'The recipient’s phone or bank account',
  examples: ['+254712345678'],
};

const reversalReference = {
  ref_no: reversalRefNo,
  checkout_ref_no: { ...refNo, description: 'Your reference of the collection' },
};
const reversalFee = { transaction_fee: { ...money, examples: ['0.00'] } };

const HEADERS: Record<string, string> = {
  'X-Service-Timestamp': 'When this attempt was sent, Unix seconds; refuse one older than 300 s',
  'X-Service-Signature':
    'Hex HMAC-SHA256, keyed with the app secret, over the timestamp, a dot and the raw body',
  'X-Service-Event-Sequence': 'Counts up by one per merchant',
  'webhook-id': 'The same at every attempt for one event: take each only once',
  'webhook-timestamp': 'As X-Service-Timestamp',
  'webhook-signature': 'The signature of the Standard Webhooks convention',
};

const TRIES =
  'Answer 2xx within 10 s, even if your own processing fails; anything else is tried again, up to 11 times over three days. 410 stops it.';

export function webhooks() {
  return {
    collectionEnded: webhook(
      'collectionEnded',
      'Collections',
      'A collection has ended',
      `POSTed to the \`callback_url\` of the collection. ${TRIES}`,
      eventOf('collection', phone),
    ),
    payoutEnded: webhook(
      'payoutEnded',
      'Payouts',
      'A payout has ended',
      `POSTed to the \`callback_url\` of the payout; of one that failed when its money is back in the wallet. ${TRIES}`,
      eventOf('payout', payto),
    ),
    reversalEnded: webhook(
      'reversalEnded',
      'Reversals',
      'A reversal has ended',
      `POSTed to the \`callback_url\` of the reversal. ${TRIES}`,
      eventOf('reversal', phone, reversalReference, reversalFee),
    ),
  };
}

function webhook(
  operationId: string,
  tag: string,
  summary: string,
  description: string,
  event: Schema,
) {
  return {
    post: {
      operationId,
      tags: [tag],
      summary,
      description,
      parameters: Object.entries(HEADERS).map(([name, about]) => ({
        name,
        in: 'header',
        required: true,
        description: about,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: published(event), example: exampleOf(event) },
        },
      },
      responses: { 200: { description: 'Taken' } },
    },
  };
}
