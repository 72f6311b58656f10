import {
  accountNumber,
  amount,
  appCode,
  callbackUrl,
  phone,
  refNo,
  type Schema,
} from './fields.ts';
import { TRANSACTION_TYPES, WALLETS } from './records.ts';
import type { InputSchema } from './validator.ts';

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

export const collectionsQuery = query({
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

export const deprecatedCollectionsQuery = query({
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
