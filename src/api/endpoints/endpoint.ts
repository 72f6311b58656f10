import type { ErrorCode } from '../../domain/errors.ts';
import type { Product } from '../../domain/merchants/app.ts';
import type { Role } from '../../domain/merchants/user.ts';
import {
  idOf,
  integer,
  type ObjectSchema,
  object,
  type Schema,
  string,
} from '../../records/schema.ts';
import { deprecatedPayments } from '../schemas/queries.ts';
import type { InputSchema } from '../schemas/validator.ts';

export type Refused = readonly [code: ErrorCode, subject?: string];

/** The type of a request's fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** One endpoint: its address, who may call it, its input and its answer. */
export interface Endpoint<Body extends Fields = Fields, Query extends Fields = Fields> {
  method: 'get' | 'post' | 'delete';
  /** Relative to the base path, with parameters in braces. */
  path: string;
  summary: string;
  description?: string;
  /**
   * Roles of users that may call it. Apps have no roles and may call everything. An endpoint
   * without roles needs no token.
   */
  roles?: readonly Role[];
  /** Apps may not call it, because it is about a person's own access. */
  peopleOnly?: boolean;
  /** A person who must change the password may call it before that. */
  beforePasswordChange?: boolean;
  /** No idempotency key may keep its input and its answer, because they hold secrets. */
  takesNoKey?: boolean;
  /** The operation for which the merchant must be approved, in the words of the refusal. */
  approvedFor?: string;
  /** The product that the app needs. */
  product?: Product;
  body?: InputSchema<Body>;
  query?: InputSchema<Query>;
  answer: Schema;
  /** Refusals beside those that its access and its input imply. */
  refusals?: readonly Refused[];
  deprecated?: boolean;
}

/** Returns a path in the form that Express matches. */
export function patternOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Tells whether requests may have an Idempotency-Key. */
export function takesKey({ roles, method, takesNoKey }: Endpoint): boolean {
  return roles !== undefined && method === 'post' && !takesNoKey;
}

export const ALL: readonly Role[] = ['Admin', 'Finance', 'Operator'];
export const MONEY: readonly Role[] = ['Admin', 'Finance'];
export const ADMIN: readonly Role[] = ['Admin'];

/** A list of payments, newest first. */
export function listOf<Query extends Fields>(
  path: string,
  plural: string,
  query: InputSchema<Query>,
  item: Schema,
): Endpoint<Fields, Query> {
  return {
    method: 'get',
    path,
    summary: `List ${plural}`,
    description: `Newest first. Follow \`next\`: it stays in step while ${plural} are added.`,
    roles: ALL,
    query,
    answer: envelope(item),
  };
}

/** A list of payments in the form of earlier versions. */
export function deprecatedListOf(path: string, plural: string, item: Schema) {
  return {
    method: 'get',
    path,
    summary: `List ${plural} (deprecated)`,
    description: 'Will be removed in a future version; use `GET /wallets/transactions`.',
    roles: ALL,
    query: deprecatedPayments,
    answer: envelope(item),
    deprecated: true,
  } as const satisfies Endpoint;
}

/** One payment, by the parameter that ends the path. */
export function detailOf(path: string, kind: string, answer: ObjectSchema): Endpoint {
  return {
    method: 'get',
    path,
    summary: `Get one ${kind}`,
    roles: ALL,
    answer: withCreator(answer),
    refusals: [['transaction_not_found']],
  };
}

const CREATOR =
  'Who asked for it: `app`, or a user’s e-mail. Only users with the role Admin get it';

/** The answer of the endpoint of one payment: its record, and what only users with the role Admin get. */
function withCreator(payment: ObjectSchema): Schema {
  const created_by = string(CREATOR, 'owner@duka.example');
  return { ...payment, properties: { ...payment.properties, created_by } };
}

const COUNT = 'Records that match, on all pages; along `next`, as many as did at its start';

/** Describes a count that ends at a limit. */
export function countUpTo(limit: number, what = COUNT): string {
  return `${what}. Counted up to ${limit.toLocaleString('en')}: then there may be more`;
}

/** The schema of a page of a list, with links to the pages beside it. */
export function envelope(items: Schema, count = COUNT): Schema {
  const link = { type: ['string', 'null'], description: 'Follow it as it is; null at the end' };
  return object({
    count: integer(count),
    next: link,
    previous: link,
    results: { type: 'array', description: 'The records of this page', items },
  });
}

/** The schemas of parameters in paths. */
export const pathParameters: Readonly<Record<string, Schema>> = {
  id: idOf('The id of the record, as the list shows it'),
  checkout_id: idOf('The id of the collection'),
  payout_id: idOf('The id of the payout'),
  ref_no: string('Your reference', 'refund-1001'),
};
