import { MAX_CALLBACK_URL_LENGTH } from '../../domain/callback-url.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { AMOUNT_PROBLEMS, amountProblem } from '../../domain/money.ts';

/** Schemas of single fields. They check requests and make the documentation. */

/** Keyword: the refusals of a wrong value, the usual one first. Without it `invalid_field`. */
export const REFUSALS = 'x-refusals';
/**
 * Keyword: says what is wrong with a field, whether its schema has refused it or not. Other fields
 * may be wrong, and this one may have any type.
 */
export const CHECK = 'x-check';
/** Keyword of a body: required fields that the token of an app implies. */
export const IMPLIED = 'x-implied';

/** The keywords of our own. They are not published. */
export const OWN_KEYWORDS: readonly string[] = [REFUSALS, CHECK, IMPLIED];

export interface Schema {
  [keyword: string]: unknown;
  [REFUSALS]?: readonly ErrorCode[];
  [CHECK]?: (fields: Record<string, unknown>) => ErrorCode | null;
  [IMPLIED]?: readonly string[];
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const REVERSAL_REF_NO = /^[A-Za-z0-9_-]{1,60}$/;

export const string = { type: 'string' };

/** Text without control characters, of the reading direction too. */
export function text(maxLength: number) {
  return { type: 'string', maxLength, format: 'plain-text' };
}

export const amount: Schema = {
  type: 'string',
  pattern: '^\\d{1,6}\\.\\d{2}$',
  description: 'KES, 1.00 to 999999.99, with exactly two decimals',
  examples: ['250.00'],
  [REFUSALS]: AMOUNT_PROBLEMS,
  [CHECK]: ({ amount }) => amountProblem(amount),
};

export const phone: Schema = {
  type: 'string',
  format: 'kenyan-mobile',
  description: 'Kenyan mobile number in E.164 form',
  examples: ['+254712345678'],
  [REFUSALS]: ['invalid_phone_number'],
};

export const refNo = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{1,50}$',
  description: 'Your reference: letters, digits, - and _; unique among your records of this kind',
  examples: ['order-1001'],
};

/** The reference of the collection that a reversal gives back. */
export const checkoutRefNo = { ...refNo, description: 'Your reference of the collection' };

export const reversalRefNo = {
  ...refNo,
  pattern: REVERSAL_REF_NO.source,
  examples: ['refund-1001'],
};

/** The recipient of a payout, in an answer. */
export const payto = described(string, 'The recipient’s phone or bank account', '+254712345678');

export const accountNumber = {
  type: 'string',
  minLength: 1,
  maxLength: 50,
  format: 'plain-text',
  description: 'What the customer pays for, as shown in the prompt',
  examples: ['INV-7'],
};

export const callbackUrl = {
  type: 'string',
  maxLength: MAX_CALLBACK_URL_LENGTH,
  format: 'callback-url',
  description:
    'Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others',
  examples: ['https://shop.example/webhooks'],
};

export const appCode = {
  type: 'integer',
  minimum: 1,
  maximum: 9_007_199_254_740_991,
  description: 'Which app to book on; only for people who logged in and have several',
  examples: [5001],
};

/** An amount in an answer. The balance of a collection wallet may be negative. */
export const money = {
  type: 'string',
  pattern: '^-?\\d+\\.\\d{2}$',
  description: 'In KES',
  examples: ['250.00'],
};

export const timestamp = {
  type: 'string',
  format: 'date-time',
  description: 'ISO 8601, UTC',
  examples: ['2026-11-20T09:30:00.000Z'],
};

export const createdAt = {
  type: 'string',
  pattern: '^\\d{2}/\\d{2}/\\d{4} \\d{2}:\\d{2}:\\d{2}$',
  description: 'DD/MM/YYYY HH:MM:SS, UTC',
  examples: ['20/11/2026 09:30:00'],
};

export const createdAtIso = { ...timestamp, description: '`created_at` in ISO 8601, UTC' };

export const uuid = {
  type: 'string',
  format: 'uuid',
  description: 'Our id, a UUID',
  examples: ['01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f'],
};

/** The description of a count that ends at a limit. */
export function countUpTo(limit: number, what = COUNT): string {
  return `${what}. Counted up to ${limit.toLocaleString('en')}: then there may be more`;
}

/** A field with its description in the documentation, and an example. */
export function described(schema: Schema, description: string, example: unknown): Schema {
  return { ...schema, description, examples: [example] };
}

export function nullable(schema: Schema): Schema {
  return { ...schema, type: [schema.type, 'null'] };
}

/**
 * An object in an answer or a webhook, with all of these fields. It does not rule out others, so
 * that a field that is added breaks nobody who reads by the schema.
 */
export function record(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

export const endpoint = {
  type: 'string',
  maxLength: MAX_CALLBACK_URL_LENGTH,
  format: 'endpoint',
  description: 'Scheme, host and port of callback URLs; the usual port is left out',
  examples: ['https://shop.example'],
};

const COUNT = 'Records that match, on all pages; along `next`, as many as did at its start';

/** A page of a list, with links to the pages beside it. */
export function envelope(item: Schema, count = COUNT): Schema {
  const link = { type: ['string', 'null'], description: 'Follow it as it is; null at the end' };
  return record({
    count: { type: 'integer', description: count },
    next: link,
    previous: link,
    results: { type: 'array', description: 'The records of this page', items: item },
  });
}
