import { MAX_CALLBACK_URL_LENGTH } from '../domain/address.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { AMOUNT_PROBLEMS, amountProblem } from '../domain/money.ts';

/** JSON schemas of single fields. They check requests, describe answers and make the documentation. */

/** Keyword: the refusals of a wrong value, the usual one first. Without it `invalid_field`. */
export const REFUSALS = 'x-refusals';
/**
 * Keyword: a function that says what is wrong with a field. It runs even if the schema has refused
 * the field. Other fields may be wrong, and this one may have any type.
 */
export const CHECK = 'x-check';
/** Keyword: an optional field that examples leave out, because few requests need it. */
export const RARE = 'x-rare';

/** Our own keywords. They are not published. */
export const OWN_KEYWORDS: readonly string[] = [REFUSALS, CHECK, RARE];

export interface Schema {
  [keyword: string]: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  [REFUSALS]?: readonly ErrorCode[];
  [CHECK]?: (fields: Record<string, unknown>) => ErrorCode | null;
  [RARE]?: true;
}

interface TypesOfJson {
  string: string;
  integer: number;
  boolean: boolean;
}

/** The type of the values that a schema accepts. */
export type ValueOf<Accepting> = Accepting extends { enum: readonly (infer Word)[] }
  ? Word
  : Accepting extends { type: infer Type extends keyof TypesOfJson }
    ? TypesOfJson[Type]
    : unknown;

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const REVERSAL_REF_NO = /^[A-Za-z0-9_-]{1,60}$/;

/** Adds a description, and an example unless the schema has one that fits. */
export function described<const Described extends Schema>(
  schema: Described,
  description: string,
  ...examples: unknown[]
) {
  return { ...schema, description, ...(examples.length > 0 && { examples }) };
}

/** Returns a function that describes values of one schema: `integer('How many', 7)`. */
function values<const Of extends Schema>(schema: Of) {
  return (description: string, ...examples: unknown[]) =>
    described(schema, description, ...examples);
}

export function nullable(schema: Schema): Schema {
  return { ...schema, type: [schema.type, 'null'] };
}

export const string = values({ type: 'string' });
export const stringOrNull = values({ type: ['string', 'null'] });
export const integer = values({ type: 'integer' });
export const integerOrNull = values({ type: ['integer', 'null'] });
export const boolean = values({ type: 'boolean' });

/** A value that is one of some words or whole numbers, or null. */
export function oneOf(values: readonly unknown[], description: string, ...examples: unknown[]) {
  const [type, ...more] = new Set(values.map(typeOf));
  const schema = { type: more.length > 0 ? [type, ...more] : type, enum: values };
  return described(schema, description, ...examples);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'number' ? 'integer' : typeof value;
}

export interface ObjectSchema extends Schema {
  properties: Record<string, Schema>;
}

/**
 * An object in an answer or a webhook that has all these fields. The schema permits other fields,
 * so that a new field breaks no reader who checks answers by the schema.
 */
export function object(properties: Record<string, Schema>): ObjectSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** Text without control characters and without controls of the reading direction. */
export function text(maxLength: number) {
  return { type: 'string', maxLength, format: 'plain-text' } as const;
}

const checkAmount = ({ amount }: Record<string, unknown>) => amountProblem(amount);

export const amount = described(
  {
    type: 'string',
    pattern: '^\\d{1,6}\\.\\d{2}$',
    [REFUSALS]: AMOUNT_PROBLEMS,
    [CHECK]: checkAmount,
  },
  'KES, 1.00 to 999999.99, with exactly two decimals',
  '250.00',
);

export const phone = described(
  { type: 'string', format: 'kenyan-mobile', [REFUSALS]: ['invalid_phone_number'] },
  'Kenyan mobile number in E.164 form',
  '+254712345678',
);

export const refNo = described(
  { type: 'string', pattern: '^[A-Za-z0-9_-]{1,50}$' },
  'Your reference: letters, digits, - and _; unique among your records of this kind',
  'order-1001',
);

/** The reference of the collection that a reversal gives back. */
export const checkoutRefNo = described(refNo, 'Your reference of the collection');

export const reversalRefNo = {
  ...refNo,
  pattern: REVERSAL_REF_NO.source,
  examples: ['refund-1001'],
};

/** The recipient of a payout, in an answer. */
export const payto = string('The recipient’s phone or bank account', '+254712345678');

export const accountNumber = described(
  { type: 'string', minLength: 1, maxLength: 50, format: 'plain-text' },
  'What the customer pays for, as shown in the prompt',
  'INV-7',
);

export const callbackUrl = described(
  { type: 'string', maxLength: MAX_CALLBACK_URL_LENGTH, format: 'callback-url' },
  'Where the outcome is POSTed: absolute http(s) without user information; https in production, there on port 443 or 8443 unless the operator allows others',
  'https://shop.example/webhooks',
);

export const endpoint = described(
  { type: 'string', maxLength: MAX_CALLBACK_URL_LENGTH, format: 'endpoint' },
  'Scheme, host and port of callback URLs; the usual port is left out',
  'https://shop.example',
);

export const appCode = described(
  { type: 'integer', minimum: 1, maximum: 9_007_199_254_740_991 },
  'Which app of yours to book on; its secret signs the webhook',
  5001,
);

/** The app of a request of which only people choose the app. The token of an app may name no other one. */
export const ownAppCode = {
  ...appCode,
  description:
    'Which app to book on: people who logged in and have several must say it. With an app’s token it may only be that app',
  [RARE]: true,
} as const;

export const currency = {
  ...described({ enum: ['KES'] }, 'All money is in Kenyan shillings'),
  [RARE]: true,
} as const;

/** An amount in an answer. The balance of a collection wallet may be negative. */
export const money = described(
  { type: 'string', pattern: '^-?\\d+\\.\\d{2}$' },
  'In KES',
  '250.00',
);

export const timestamp = described(
  { type: 'string', format: 'date-time' },
  'ISO 8601, UTC',
  '2026-11-20T09:30:00.000Z',
);

export const uuid = described(
  { type: 'string', format: 'uuid' },
  'Our id, a UUID',
  '01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f',
);

export const amountOf = values(money);
export const idOf = values(uuid);
export const time = values(timestamp);
export const timeOrNull = values(nullable(timestamp));

/** Makes a value that a schema takes, from the examples of its parts, without its rare fields. */
export function exampleOf(schema: Schema): unknown {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const types = [schema.type].flat();
  if (types.includes('object')) {
    const entries = Object.entries(schema.properties ?? {});
    const shown = entries.filter(([, field]) => !field[RARE]);
    return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]));
  }
  if (types.includes('array') && schema.items) return [exampleOf(schema.items)];
  if (types.includes('null')) return null;
  return BY_TYPE[String(types[0])];
}

const BY_TYPE: Record<string, unknown> = { boolean: true, integer: 1, string: 'text' };
