import type { ErrorCode } from '../../domain/errors.ts';
import type { Role } from '../../domain/identity/manage-users.ts';
import type { Product } from '../../domain/merchants/manage-apps.ts';
import type { Schema } from '../schemas/fields.ts';
import type { InputSchema } from '../schemas/validator.ts';

/** The sections of the documentation, in their order. */
export const TAGS = [
  'Access',
  'Collections',
  'Payouts',
  'Reversals',
  'Wallets',
  'Channels',
] as const;

export type Refused = readonly [code: ErrorCode, subject?: string];

/** One endpoint: its address, who may call it, its input and its answer. */
export interface Endpoint {
  method: 'get' | 'post';
  /** Relative to the base path, with parameters in braces. */
  path: string;
  tag: (typeof TAGS)[number];
  summary: string;
  description?: string;
  /**
   * Roles of users that may call it. Apps have no roles and may call everything. An endpoint
   * without roles needs no token.
   */
  roles?: readonly Role[];
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

export const ALL: readonly Role[] = ['Admin', 'Finance', 'Operator'];
export const MONEY: readonly Role[] = ['Admin', 'Finance'];
export const ADMIN: readonly Role[] = ['Admin'];
