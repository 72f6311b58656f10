import type { ErrorCode } from '../../domain/errors.ts';
import type { Product, Role } from '../../domain/merchants/merchant.ts';
import type { Schema } from '../schemas/fields.ts';
import type { InputSchema } from '../schemas/validator.ts';

/** The parts of the API, in the order of the documentation. */
export const TAGS = [
  'Access',
  'Collections',
  'Payouts',
  'Reversals',
  'Wallets',
  'Channels',
] as const;

/** One endpoint: where it is, who may call it, what it takes and answers. */
export interface Endpoint {
  id: string;
  method: 'get' | 'post';
  /** Below the base path; parameters in braces. */
  path: string;
  tag: (typeof TAGS)[number];
  summary: string;
  description?: string;
  /** Who may call it with a token; without it no token is needed. Apps are not limited by roles. */
  roles?: readonly Role[];
  /** The merchant must be approved; what for, in the words of the refusal. */
  approvedFor?: string;
  /** The app needs this product. */
  product?: Product;
  body?: InputSchema;
  query?: InputSchema;
  answer: Schema;
  /** What it refuses with besides what its access and input imply. */
  refusals: readonly (readonly [code: ErrorCode, subject?: string])[];
  deprecated?: boolean;
}

export const ALL: readonly Role[] = ['Admin', 'Finance', 'Operator'];
export const MONEY: readonly Role[] = ['Admin', 'Finance'];
export const ADMIN: readonly Role[] = ['Admin'];
