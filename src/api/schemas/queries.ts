import { STATUS_CODES } from '../../domain/payments/payment.ts';
import { DELIVERY_STATUSES } from '../../domain/webhooks/list-deliveries.ts';
import { ENDING_KINDS } from '../../domain/webhooks/prepare-deliveries.ts';
import { REVERSAL_LABELS } from '../../records/payments.ts';
import { described, endpoint, refNo, reversalRefNo, uuid } from '../../records/schema.ts';
import { TRANSACTION_TYPES, WALLETS } from '../../records/wallets.ts';
import { EVENT_NAMES } from '../../records/webhooks.ts';
import { queryOf } from './validator.ts';

/** Schemas of the requests' queries. */

const MAX_PAGE_SIZE = 100;
/** JSON and JavaScript keep whole numbers up to here exactly. */
const MAX_SEQUENCE = 999_999_999_999_999;
const PAGE_SIZE = 20;
const DEPRECATED_PAGE_SIZE = 50;

function pages(pageSize: number) {
  const description = 'The number of the page. To walk through a list, follow `next`';
  const page = { type: 'integer', minimum: 1, default: 1, description } as const;
  return { page, page_size: sizeOfPage(pageSize) };
}

function sizeOfPage(pageSize: number) {
  const description = 'The most records of a page';
  return {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    default: pageSize,
    description,
  } as const;
}

function list(pageSize: number) {
  const as_of = described(
    { type: 'string', pattern: '^[A-Za-z0-9_-]{1,240}$' },
    'Part of `next` and `previous`: keeps pages in step while records are added',
  );
  return { ...pages(pageSize), as_of };
}

const dayOrTime = { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] } as const;
const DAY_OR_TIME =
  'a UTC day (YYYY-MM-DD), or a time in ISO 8601 with Z or an offset, to the second or the millisecond. The whole of it is included';

const dates = {
  date_from: described(dayOrTime, `Created from here on: ${DAY_OR_TIME}`),
  date_to: described(dayOrTime, `Created up to here: ${DAY_OR_TIME}`),
};

const phone = described(
  { type: 'string', pattern: '^[+ ]?\\d{5,15}$' },
  'Only of this phone, in E.164 form. In an address the plus is written %2B',
  '+254712345678',
);

/** A status by its number or its word. The words stand in the order of the numbers. */
function statusOf(words: readonly string[]) {
  const numbers = words.map((word, number) => `${number} ${word}`);
  return {
    type: ['integer', 'string'],
    enum: [...words.keys(), ...words],
    description: `Only of this status: ${numbers.join(', ')}. The number or the word`,
  };
}

/** A reference of any kind of record. */
function anyRefNo(description: string) {
  return { type: 'string', pattern: reversalRefNo.pattern, description } as const;
}

const ofRefNo = described(refNo, 'Only the one with this reference of yours');

export const payments = queryOf({
  ...list(PAGE_SIZE),
  status: statusOf(STATUS_CODES),
  ...dates,
  ref_no: ofRefNo,
});

export const reversals = queryOf({
  ...list(PAGE_SIZE),
  status: statusOf(REVERSAL_LABELS),
  ...dates,
  ref_no: { ...ofRefNo, pattern: reversalRefNo.pattern, examples: reversalRefNo.examples },
  checkout_ref_no: described(refNo, 'Only of the collection with this reference of yours'),
});

export const deprecatedPayments = queryOf({
  ...list(DEPRECATED_PAGE_SIZE),
  status: { enum: ['pending', 'completed', 'failed'], description: 'Only of this status' },
  ...dates,
  phone,
  ref_no: ofRefNo,
});

export const walletTransactions = queryOf({
  ...list(PAGE_SIZE),
  wallet: { enum: WALLETS, description: 'Only of this wallet' },
  type: { enum: TRANSACTION_TYPES, description: 'Only of this type' },
  ref_no: anyRefNo('Only those of the payment or transfer with this reference of yours'),
  phone,
  ...dates,
});

export const webhookDeliveries = queryOf({
  ...list(PAGE_SIZE),
  status: { enum: DELIVERY_STATUSES, description: 'Only those in this state' },
  event: { enum: EVENT_NAMES, description: 'Only those that say this' },
  type: { enum: ENDING_KINDS, description: 'Only those of this kind of payment' },
  ref_no: anyRefNo('Only those of the payments with your reference'),
  payment_id: { ...uuid, description: 'Only those of this payment' },
  endpoint: { ...endpoint, description: 'Only those to this scheme, host and port' },
  ...dates,
});

export const webhookEndpoints = queryOf(pages(PAGE_SIZE));

export const events = queryOf({
  after: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_SEQUENCE,
    default: 0,
    description: 'Only events with a higher `sequence`: the highest that you have processed',
  },
  page_size: sizeOfPage(PAGE_SIZE),
});

export const sessions = queryOf(list(PAGE_SIZE));

export const channels = queryOf(pages(MAX_PAGE_SIZE));
