import { PAYOUT_CATEGORIES } from '../../domain/payments/payout.ts';
import { paytoProblem } from '../../domain/payouts/payout-channel.ts';
import {
  accountNumber,
  amount,
  appCode,
  CHECK,
  callbackUrl,
  phone,
  refNo,
  reversalRefNo,
  type Schema,
} from './fields.ts';
import { TRANSACTION_TYPES, WALLETS } from './records.ts';
import type { FieldCheck, InputSchema } from './validator.ts';

/** The shapes of everything that callers send. The order of fields is the order of refusals. */

const MAX_CREDENTIAL_LENGTH = 200;
const MAX_PASSWORD_LENGTH = 200;
const MAX_EMAIL_LENGTH = 254;
const MAX_TOKEN_LENGTH = 4_096;
export const MAX_PAGE_SIZE = 100;

function body(properties: Record<string, Schema>, optional: string[] = []): InputSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

const credential = { type: 'string', maxLength: MAX_CREDENTIAL_LENGTH, format: 'plain-text' };

export const appCredentials = body({
  app_key: { ...credential, examples: ['ak_3f0c…'] },
  app_secret: { ...credential, examples: ['as_9Kx…'] },
});

export const refreshToken = body({
  refresh: { type: 'string', maxLength: MAX_TOKEN_LENGTH, examples: ['eyJhbGciOiJIUzI1NiIs…'] },
});

export const logIn = body({
  email: {
    type: 'string',
    maxLength: MAX_EMAIL_LENGTH,
    format: 'plain-text',
    examples: ['owner@duka.example'],
  },
  password: {
    type: 'string',
    maxLength: MAX_PASSWORD_LENGTH,
    format: 'plain-text',
    examples: ['correct horse battery staple'],
  },
});

export const newCollection = body(
  {
    payfrom: { ...phone, description: 'The customer’s phone; it gets the prompt' },
    amount,
    ref_no: refNo,
    account_number: accountNumber,
    callback_url: callbackUrl,
    app_code: appCode,
  },
  ['app_code'],
);

const MAX_NARRATION_LENGTH = 200;
export const DEFAULT_NARRATION = 'Disbursement';

const checkPayto: FieldCheck = ({ payto, channel }) =>
  paytoProblem(String(payto), typeof channel === 'number' ? channel : undefined);

export const newPayout = body(
  {
    payto: {
      type: 'string',
      description:
        'The recipient: a Kenyan mobile number in E.164 form, or a bank account number of 5 to 34 letters and digits',
      examples: ['+254712345678'],
      [CHECK]: checkPayto,
    },
    amount,
    ref_no: refNo,
    callback_url: callbackUrl,
    category: { enum: PAYOUT_CATEGORIES, default: 'other', examples: ['other'] },
    narration: {
      type: 'string',
      maxLength: MAX_NARRATION_LENGTH,
      format: 'plain-text',
      default: DEFAULT_NARRATION,
      description: 'Sent to the gateway',
      examples: ['Salary November'],
    },
    channel: {
      type: 'integer',
      description:
        'Code of the payment channel. Required for bank accounts; a phone’s is that of its carrier unless given',
      examples: [63902],
    },
    app_code: { ...appCode, description: 'Which app of yours to book on; its secret signs' },
  },
  ['category', 'narration', 'channel'],
);

const MAX_REASON_LENGTH = 200;

export const newReversal = body(
  {
    checkout_ref_no: { ...refNo, description: 'Your reference of the collection to give back' },
    ref_no: reversalRefNo,
    callback_url: callbackUrl,
    reason: {
      type: 'string',
      maxLength: MAX_REASON_LENGTH,
      format: 'plain-text',
      description: 'Recorded, and sent to the network as remarks',
      examples: ['Out of stock'],
    },
  },
  ['reason'],
);

export const newTransfer = body({ amount, ref_no: refNo });

function query(properties: Record<string, Schema>): InputSchema {
  return { type: 'object', properties };
}

function paging(pageSize: number): Record<string, Schema> {
  return {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: pageSize },
    as_of: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{1,240}$',
      description: 'Part of `next` and `previous`: keeps pages in step while records are added',
    },
  };
}

const dates = {
  date_from: { type: 'string', format: 'date', description: 'First UTC day, YYYY-MM-DD' },
  date_to: { type: 'string', format: 'date', description: 'Last UTC day, YYYY-MM-DD' },
};

const PAGE_SIZE = 20;
const DEPRECATED_PAGE_SIZE = 50;

const phoneFilter = {
  type: 'string',
  pattern: '^[+ ]?\\d{5,15}$',
  description: 'E.164; in an address the plus is written %2B',
  examples: ['+254712345678'],
};

export const paymentsQuery = query({
  ...paging(PAGE_SIZE),
  status: {
    type: 'integer',
    minimum: 0,
    maximum: 3,
    description: '0 pending, 1 processing, 2 failed, 3 completed',
  },
  ...dates,
  ref_no: refNo,
});

export const reversalsQuery = query({
  ...paging(PAGE_SIZE),
  status: {
    type: 'integer',
    minimum: 0,
    maximum: 3,
    description: '0 unprocessed, 1 processed, 2 failed, 3 reversed',
  },
  ...dates,
  ref_no: reversalRefNo,
  checkout_ref_no: refNo,
});

export const deprecatedPaymentsQuery = query({
  ...paging(DEPRECATED_PAGE_SIZE),
  status: { enum: ['pending', 'completed', 'failed'] },
  ...dates,
  phone: phoneFilter,
  ref_no: refNo,
});

export const walletTransactionsQuery = query({
  ...paging(PAGE_SIZE),
  wallet: { enum: WALLETS },
  type: { enum: TRANSACTION_TYPES },
  ref_no: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,60}$' },
  phone: phoneFilter,
  ...dates,
});

export const channelsQuery = query({
  page: { type: 'integer', minimum: 1, default: 1 },
  page_size: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: MAX_PAGE_SIZE },
});
