import {
  amountOf,
  checkoutRefNo,
  integer,
  money,
  type ObjectSchema,
  object,
  payto,
  phone,
  refNo,
  reversalRefNo,
  type Schema,
  string,
  timestamp,
  uuid,
} from '../../records/schema.ts';
import { contentOf } from './refusals.ts';

/** Returns the schema of the event that a merchant is sent when a payment has ended. */
function eventOf(
  type: string,
  account: Schema,
  reference: Record<string, Schema> = { ref_no: refNo },
  more: Record<string, Schema> = {},
): ObjectSchema {
  return object({
    notification: about('What has happened', {
      type: { const: type, description: 'What kind of payment' },
      event: {
        enum: ['transaction.completed', 'transaction.failed'],
        description: '`transaction.completed` when `result_code` is 0, else `transaction.failed`',
      },
    }),
    data: about('The payment', {
      id: { ...uuid, description: 'The id of the payment, as in our answers' },
      result_code: integer(
        '0 on success. Any other number is the gateway’s; a reversal that failed has 1',
        0,
      ),
      result_description: string(
        'The gateway’s words about the result',
        'The service request is processed successfully.',
      ),
      amount: { ...money, description: 'In KES, without commission and fees' },
      ...reference,
      beneficiary: about('The other side of the payment', {
        account,
        kyc: { type: ['string', 'null'], description: 'Always null' },
      }),
      transaction_date: {
        ...timestamp,
        description:
          'When the gateway completed it; when it was created, if the gateway gave no time. ISO 8601, UTC',
      },
      external_ref: string('The gateway’s reference; may be empty', 'ws_CO_20112026093000'),
      trans_id: string(
        'The network’s receipt; empty when no money has moved, or when there is none',
        'TKJ7A1B2C3',
      ),
      ...more,
    }),
  });
}

/** An object of the event, with what it is about. */
function about(description: string, properties: Record<string, Schema>): Schema {
  return { ...object(properties), description };
}

const customer = { ...phone, description: 'The customer’s phone, in E.164 form' };
const reversalReference = { ref_no: reversalRefNo, checkout_ref_no: checkoutRefNo };
const reversalFee = { transaction_fee: amountOf('Always 0.00', '0.00') };

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
  'If the status changes afterwards, one more follows, with a higher sequence: the last one is true.';

const AFTER_REFUND = '; of one that failed when its money is back in the wallet';

/** Describes the webhooks of the OpenAPI document. */
export function webhooks() {
  const reversal = eventOf('reversal', customer, reversalReference, reversalFee);
  return {
    collectionEnded: webhook('collection', 'Collections', eventOf('collection', customer)),
    payoutEnded: webhook('payout', 'Payouts', eventOf('payout', payto), AFTER_REFUND),
    reversalEnded: webhook('reversal', 'Reversals', reversal),
    webhookTested: testWebhook(),
  };
}

function testWebhook() {
  const fields = eventOf('test', phone).properties;
  const notification = about('What has happened', {
    type: { const: 'test', description: 'Always `test`' },
    event: { const: 'webhook.test', description: 'Always `webhook.test`' },
  });
  return posted({
    operationId: 'webhookTested',
    tag: 'Events and webhooks',
    summary: 'An example for a receiver that is tried',
    description:
      'POSTed to the `callback_url` of `POST /webhooks/test`, once. All values are made up, and there is no payment: answer it as any webhook, and book nothing.',
    event: object({ ...fields, notification }),
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
