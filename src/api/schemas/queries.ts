import { STATUS_CODES } from '../../domain/payments/payment.ts';
import { refNo, reversalRefNo, type Schema } from './fields.ts';
import { REVERSAL_STATUSES, TRANSACTION_TYPES, WALLETS } from './records.ts';
import type { InputSchema } from './validator.ts';

/** Schemas of the requests' queries. */

const MAX_PAGE_SIZE = 100;
const PAGE_SIZE = 20;
const DEPRECATED_PAGE_SIZE = 50;

function query(properties: Record<string, Schema>): InputSchema {
  return { type: 'object', properties };
}

function pages(pageSize: number): Record<string, Schema> {
  return {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: pageSize },
  };
}

function list(pageSize: number): Record<string, Schema> {
  return {
    ...pages(pageSize),
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

const phone = {
  type: 'string',
  pattern: '^[+ ]?\\d{5,15}$',
  description: 'E.164; in an address the plus is written %2B',
  examples: ['+254712345678'],
};

const status = { type: 'integer', minimum: 0, maximum: 3 };

export const payments = query({
  ...list(PAGE_SIZE),
  status: {
    ...status,
    description: STATUS_CODES.map((name, code) => `${code} ${name}`).join(', '),
  },
  ...dates,
  ref_no: refNo,
});

export const reversals = query({
  ...list(PAGE_SIZE),
  status: { ...status, description: REVERSAL_STATUSES },
  ...dates,
  ref_no: reversalRefNo,
  checkout_ref_no: refNo,
});

export const deprecatedPayments = query({
  ...list(DEPRECATED_PAGE_SIZE),
  status: { enum: ['pending', 'completed', 'failed'] },
  ...dates,
  phone,
  ref_no: refNo,
});

export const walletTransactions = query({
  ...list(PAGE_SIZE),
  wallet: { enum: WALLETS },
  type: { enum: TRANSACTION_TYPES },
  ref_no: { type: 'string', pattern: reversalRefNo.pattern },
  phone,
  ...dates,
});

export const channels = query(pages(MAX_PAGE_SIZE));
