import type {
  CallbackAddress,
  GatewayPaymentKind,
} from '../../../../src/domain/gateway-results.ts';
import { aConfig, aGateway, clientOf } from './daraja-support.ts';

/** Callbacks as Safaricom documents them, and what they mean. */

export const EXTERNAL_REF = 'ws_CO_191220191020363925';
export const CONVERSATION = 'AG_20191219_00005797af5d7d75f652';
const MONEY_TIME = new Date('2019-12-19T07:21:15Z');

export const client = clientOf('http://127.0.0.1:9');
export const gateway = aGateway(client, aConfig({}, { confirm_above: '50000.00' }));

/** Reads a body as it comes to an address of a payment; by default that of the outcome. */
export const parse = (
  kind: GatewayPaymentKind,
  body: unknown,
  address: CallbackAddress = 'result',
) =>
  gateway.parseCallback(typeof body === 'string' ? body : JSON.stringify(body), { kind, address });
export const verdictOf = (...args: Parameters<typeof parse>) => parse(...args)?.verdict;

export const ITEMS = [
  { Name: 'Amount', Value: 1.0 },
  { Name: 'MpesaReceiptNumber', Value: 'NLJ7RT61SV' },
  { Name: 'Balance' },
  { Name: 'TransactionDate', Value: 20191219102115 },
  { Name: 'PhoneNumber', Value: 254708374149 },
];
export const stk = (fields: object = {}) => ({
  Body: {
    stkCallback: {
      MerchantRequestID: '29115-34620561-1',
      CheckoutRequestID: EXTERNAL_REF,
      ResultCode: 0,
      ResultDesc: 'The service request is processed successfully.',
      ...fields,
    },
  },
});
export const paid = (...changes: { Name: string; Value?: unknown }[]) => {
  const names = changes.map(({ Name }) => Name);
  const kept = ITEMS.filter(({ Name }) => !names.includes(Name));
  return stk({ CallbackMetadata: { Item: [...changes, ...kept].reverse() } });
};
export const PAID = {
  outcome: 'succeeded',
  transId: 'NLJ7RT61SV',
  externalRef: EXTERNAL_REF,
  amountCents: 100,
  account: '+254708374149',
  description: 'Processed',
  completedAt: MONEY_TIME,
};

export const B2C = {
  TransactionAmount: 10,
  TransactionReceipt: 'NLJ41HAY6Q',
  B2CRecipientIsRegisteredCustomer: 'Y',
  ReceiverPartyPublicName: '254708374149 - John Doe',
  TransactionCompletedDateTime: '19.12.2019 10:21:15',
};
export const PAID_OUT = {
  outcome: 'succeeded',
  transId: 'NLJ41HAY6Q',
  externalRef: CONVERSATION,
  amountCents: 10_00,
  account: '+254708374149',
  description: 'Processed',
  completedAt: MONEY_TIME,
};
