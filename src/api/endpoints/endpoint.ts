import type { ErrorCode } from '../../domain/errors.ts';
import type { Product } from '../../domain/merchants/app.ts';
import type { Role } from '../../domain/merchants/user.ts';
import { envelope, type Schema } from '../schemas/fields.ts';
import { deprecatedPayments } from '../schemas/queries.ts';
import { withCreator } from '../schemas/records.ts';
import type { InputSchema } from '../schemas/validator.ts';

export type Refused = readonly [code: ErrorCode, subject?: string];

/** One endpoint: its address, who may call it, its input and its answer. */
export interface Endpoint {
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
  body?: InputSchema;
  query?: InputSchema;
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
export function listOf(path: string, plural: string, query: InputSchema, item: Schema): Endpoint {
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
export function deprecatedListOf(path: string, plural: string, item: Schema): Endpoint {
  return {
    method: 'get',
    path,
    summary: `List ${plural} (deprecated)`,
    description: 'Will be removed in a future version; use `GET /wallets/transactions`.',
    roles: ALL,
    query: deprecatedPayments,
    answer: envelope(item),
    deprecated: true,
  };
}

/** One payment, by the parameter that ends the path. */
export function detailOf(path: string, kind: string, answer: Schema): Endpoint {
  return {
    method: 'get',
    path,
    summary: `Get one ${kind}`,
    roles: ALL,
    answer: withCreator(answer),
    refusals: [['transaction_not_found']],
  };
}
