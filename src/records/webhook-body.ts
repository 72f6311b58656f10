import * as is from './schema.ts';

/** The bodies of webhooks. `create-event.ts` makes them; a test checks each one by these schemas. */

type Fields = Record<string, is.Schema>;

/** An object of a body, with what it is about. */
function about(description: string, properties: Fields): is.Schema {
  return { ...is.object(properties), description };
}

const ended = is.oneOf(
  ['transaction.completed', 'transaction.failed'],
  '`transaction.completed` when `result_code` is 0, else `transaction.failed`',
);

/** Returns the schema of a body about a payment, or about the example of a test. */
function bodyAbout(
  type: is.Schema,
  event: is.Schema,
  account: is.Schema,
  reference: Fields = { ref_no: is.refNo },
  more: Fields = {},
) {
  return is.object({
    notification: about('What has happened', { type, event }),
    data: about('The payment', {
      id: is.idOf('The id of the payment, as in our answers'),
      result_code: is.integer(
        '0 on success. Any other number is the gateway’s; a reversal that failed has 1',
        0,
      ),
      result_description: is.string(
        'The gateway’s words about the result',
        'The service request is processed successfully.',
      ),
      amount: is.amountOf('In KES, without commission and fees'),
      ...reference,
      beneficiary: about('The other side of the payment', {
        account,
        kyc: is.stringOrNull('Always null'),
      }),
      transaction_date: is.time(
        'When the gateway completed it; when it was created, if the gateway gave no time. ISO 8601, UTC',
      ),
      external_ref: is.string('The gateway’s reference; may be empty', 'ws_CO_20112026093000'),
      trans_id: is.string(
        'The network’s receipt; empty when no money has moved, or when there is none',
        'TKJ7A1B2C3',
      ),
      ...more,
    }),
  });
}

function kind(name: string): is.Schema {
  return { const: name, description: 'What kind of payment' };
}

const customer = is.described(is.phone, 'The customer’s phone, in E.164 form');
const reversalReference = { ref_no: is.reversalRefNo, checkout_ref_no: is.checkoutRefNo };
const reversalFee = { transaction_fee: is.amountOf('Always 0.00', '0.00') };

export const collectionEnded = bodyAbout(kind('collection'), ended, customer);
export const payoutEnded = bodyAbout(kind('payout'), ended, is.payto);
export const reversalEnded = bodyAbout(
  kind('reversal'),
  ended,
  customer,
  reversalReference,
  reversalFee,
);
export const webhookTested = bodyAbout(
  { const: 'test', description: 'Always `test`' },
  { const: 'webhook.test', description: 'Always `webhook.test`' },
  is.phone,
);
