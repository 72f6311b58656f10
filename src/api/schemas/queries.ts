import { STATUS_CODES } from '../../domain/payments/payment.ts';
import { DELIVERY_STATUSES } from '../../domain/webhooks/list-deliveries.ts';
import { endpoint, refNo, reversalRefNo, type Schema, uuid } from './fields.ts';
import { REVERSAL_LABELS, TRANSACTION_TYPES, WALLETS } from './records.ts';
import type { InputSchema } from './validator.ts';
import { EVENT_NAMES, EVENT_TYPES } from './webhook-records.ts';

/** Schemas of the requests' queries. */

const MAX_PAGE_SIZE = 100;
/** JSON and JavaScript keep whole numbers up to here exactly. */
const MAX_SEQUENCE = 999_999_999_999_999;
const PAGE_SIZE = 20;
const DEPRECATED_PAGE_SIZE = 50;

function query(properties: Record<string, Schema>): InputSchema {
  return { type: 'object', properties };
}

function pages(pageSize: number): Record<string, Schema> {
  return {
    page: {
      type: 'integer',
      minimum: 1,
      default: 1,
      description: 'The number of the page. To walk through a list, follow `next`',
    },
    page_size: sizeOfPage(pageSize),
  };
}

function sizeOfPage(pageSize: number): Schema {
  const description = 'The most records of a page';
  return { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: pageSize, description };
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

const dayOrTime = { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] };
const DAY_OR_TIME =
  'a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included';

const dates = {
  date_from: { ...dayOrTime, description: `Created from here on: ${DAY_OR_TIME}` },
  date_to: { ...dayOrTime, description: `Created up to here: ${DAY_OR_TIME}` },
};

const phone = {
  type: 'string',
  pattern: '^[+ ]?\\d{5,15}$',
  description: 'Only of this phone, in E.164 form. In an address the plus is written %2B',
  examples: ['+254712345678'],
};

/** A status by its number or its word. The words stand in the order of the numbers. */
function statusOf(words: readonly string[]): Schema {
  const numbers = words.map((word, number) => `${number} ${word}`);
  return {
    type: ['integer', 'string'],
    enum: [...words.keys(), ...words],
    description: `Only of this status: ${numbers.join(', ')}. The number or the word`,
  };
}

const ofRefNo = { ...refNo, description: 'Only the one with this reference of yours' };

export const payments = query({
  ...list(PAGE_SIZE),
  status: statusOf(STATUS_CODES),
  ...dates,
  ref_no: ofRefNo,
});

export const reversals = query({
  ...list(PAGE_SIZE),
  status: statusOf(REVERSAL_LABELS),
  ...dates,
  ref_no: { ...ofRefNo, pattern: reversalRefNo.pattern, examples: reversalRefNo.examples },
  checkout_ref_no: {
    ...refNo,
    description: 'Only of the collection with this reference of yours',
  },
});

export const deprecatedPayments = query({
  ...list(DEPRECATED_PAGE_SIZE),
  status: { enum: ['pending', 'completed', 'failed'], description: 'Only of this status' },
  ...dates,
  phone,
  ref_no: ofRefNo,
});

export const walletTransactions = query({
  ...list(PAGE_SIZE),
  wallet: { enum: WALLETS, description: 'Only of this wallet' },
  type: { enum: TRANSACTION_TYPES, description: 'Only of this type' },
  ref_no: {
    type: 'string',
    pattern: reversalRefNo.pattern,
    description: 'Only those of the payment or transfer with this reference of yours',
  },
  phone,
  ...dates,
});

export const webhookDeliveries = query({
  ...list(PAGE_SIZE),
  status: { enum: DELIVERY_STATUSES, description: 'Only those in this state' },
  event: { enum: EVENT_NAMES, description: 'Only those that say this' },
  type: { enum: EVENT_TYPES, description: 'Only those of this kind of payment' },
  ref_no: {
    type: 'string',
    pattern: reversalRefNo.pattern,
    description: 'Only those of the payments with your reference',
  },
  payment_id: { ...uuid, description: 'Only those of this payment' },
  endpoint: { ...endpoint, description: 'Only those to this scheme, host and port' },
  ...dates,
});

export const webhookEndpoints = query(pages(PAGE_SIZE));

export const events = query({
  after: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_SEQUENCE,
    default: 0,
    description: 'Only events with a higher `sequence`: the highest that you have processed',
  },
  page_size: sizeOfPage(PAGE_SIZE),
});

export const sessions = query(list(PAGE_SIZE));

export const channels = query(pages(MAX_PAGE_SIZE));
