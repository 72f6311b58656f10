import type { ErrorCode } from '../domain/errors.ts';
import type { Product, Role } from '../domain/merchants/merchant.ts';
import type { Schema } from './schemas/fields.ts';
import * as inputs from './schemas/inputs.ts';
import * as records from './schemas/records.ts';
import type { InputSchema } from './schemas/validator.ts';

/** The parts of the API, in the order of the documentation. */
export const TAGS = [
  'Access',
  'Collections',
  'Payouts',
  'Reversals',
  'Wallets',
  'Channels',
] as const;

/**
 * Every endpoint of the API: where it is, who may call it, what it takes and answers. What
 * is checked at the door, and the documentation, are both made from this table.
 */
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

const ALL: readonly Role[] = ['Admin', 'Finance', 'Operator'];
const MONEY: readonly Role[] = ['Admin', 'Finance'];
const ADMIN: readonly Role[] = ['Admin'];

export const endpoints = {
  issueAppTokens: {
    id: 'issueAppTokens',
    method: 'post',
    path: '/auth/app/token',
    tag: 'Access',
    summary: 'Get tokens for an app',
    description: 'Exchanges an app’s key and secret for an access token and a refresh token.',
    body: inputs.appCredentials,
    answer: records.appTokens,
    refusals: [
      ['app_credentials_invalid'],
      ['ip_not_allowed'],
      ['merchant_inactive'],
      ['app_inactive'],
      ['rate_limited'],
    ],
  },
  refreshTokens: {
    id: 'refreshTokens',
    method: 'post',
    path: '/auth/refresh',
    tag: 'Access',
    summary: 'Get new tokens for a refresh token',
    description:
      'Spends the refresh token: it is good once. Using a spent one again ends every token that came from the same log-in.',
    body: inputs.refreshToken,
    answer: records.merchantTokens,
    refusals: [
      ['token_invalid'],
      ['refresh_expired'],
      ['rate_limited'],
      ['token_revoked'],
      ['ip_not_allowed'],
      ['merchant_inactive'],
      ['app_inactive'],
    ],
  },
  logIn: {
    id: 'logIn',
    method: 'post',
    path: '/auth/login',
    tag: 'Access',
    summary: 'Log a person in',
    body: inputs.logIn,
    answer: records.merchantTokens,
    refusals: [['log_in_invalid'], ['merchant_inactive'], ['rate_limited']],
  },
  initiateCollection: {
    id: 'initiateCollection',
    method: 'post',
    path: '/collections/checkouts/initiate',
    tag: 'Collections',
    summary: 'Charge a customer',
    description:
      'Records the collection and prompts the customer. The outcome comes as a webhook to `callback_url`; the answer only says that it was accepted.',
    roles: MONEY,
    approvedFor: 'collections',
    product: 'collections',
    body: inputs.newCollection,
    answer: records.collection,
    refusals: [
      ['app_not_found'],
      ['field_required', 'app_code'],
      ['channel_not_available', '63903'],
      ['wallet_missing'],
      ['duplicate_reference'],
    ],
  },
  listCollections: {
    id: 'listCollections',
    method: 'get',
    path: '/collections/checkouts',
    tag: 'Collections',
    summary: 'List collections',
    description: 'Newest first. Follow `next`: it stays in step while collections are added.',
    roles: ALL,
    query: inputs.paymentsQuery,
    answer: records.collections,
    refusals: [],
  },
  getCollection: {
    id: 'getCollection',
    method: 'get',
    path: '/collections/checkouts/{checkout_id}',
    tag: 'Collections',
    summary: 'Get one collection',
    roles: ALL,
    answer: records.collectionDetail,
    refusals: [['transaction_not_found']],
  },
  listCollectionsDeprecated: {
    id: 'listCollectionsDeprecated',
    method: 'get',
    path: '/collections/list',
    tag: 'Collections',
    summary: 'List collections (deprecated)',
    description: 'Will be removed in a future version; use `GET /wallets/transactions`.',
    roles: ALL,
    query: inputs.deprecatedPaymentsQuery,
    answer: records.listedCollections,
    refusals: [],
    deprecated: true,
  },
  initiatePayout: {
    id: 'initiatePayout',
    method: 'post',
    path: '/payouts/initiate',
    tag: 'Payouts',
    summary: 'Pay a recipient',
    description:
      'Debits the payout wallet and sends the money to a phone or a bank account. The outcome comes as a webhook to `callback_url`; a payout that fails is put back into the wallet first.',
    roles: MONEY,
    approvedFor: 'payouts',
    product: 'payouts',
    body: inputs.newPayout,
    answer: records.payout,
    refusals: [
      ['invalid_phone_number'],
      ['channel_invalid', '99'],
      ['channel_required'],
      ['channel_not_available', '68'],
      ['insufficient_balance', 'payout'],
      ['app_not_found'],
      ['wallet_missing'],
      ['duplicate_reference'],
    ],
  },
  listPayouts: {
    id: 'listPayouts',
    method: 'get',
    path: '/payouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Newest first. Follow `next`: it stays in step while payouts are added.',
    roles: ALL,
    query: inputs.paymentsQuery,
    answer: records.payouts,
    refusals: [],
  },
  // Before the detail, whose parameter would take its name.
  listPayoutsDeprecated: {
    id: 'listPayoutsDeprecated',
    method: 'get',
    path: '/payouts/list',
    tag: 'Payouts',
    summary: 'List payouts (deprecated)',
    description: 'Will be removed in a future version; use `GET /wallets/transactions`.',
    roles: ALL,
    query: inputs.deprecatedPaymentsQuery,
    answer: records.listedPayouts,
    refusals: [],
    deprecated: true,
  },
  getPayout: {
    id: 'getPayout',
    method: 'get',
    path: '/payouts/{payout_id}',
    tag: 'Payouts',
    summary: 'Get one payout',
    roles: ALL,
    answer: records.payoutDetail,
    refusals: [['transaction_not_found']],
  },
  initiateReversal: {
    id: 'initiateReversal',
    method: 'post',
    path: '/reversals/initiate',
    tag: 'Reversals',
    summary: 'Give a collection back',
    description:
      'Gives a completed collection back to the customer, in full. Waits up to 10 s for the network to take it: status 1 says that it has, not that it is done; status 0 that the receipt of the collection is awaited first. The outcome comes as a webhook to `callback_url`.',
    roles: MONEY,
    approvedFor: 'reversals',
    product: 'collections',
    body: inputs.newReversal,
    answer: records.reversal,
    refusals: [
      ['collection_not_completed'],
      ['transaction_not_found'],
      ['reversal_done'],
      ['reversal_in_progress'],
      ['duplicate_reference'],
      ['gateway_unreachable'],
    ],
  },
  listReversals: {
    id: 'listReversals',
    method: 'get',
    path: '/reversals',
    tag: 'Reversals',
    summary: 'List reversals',
    description: 'Newest first. Follow `next`: it stays in step while reversals are added.',
    roles: ALL,
    query: inputs.reversalsQuery,
    answer: records.reversals,
    refusals: [],
  },
  getReversal: {
    id: 'getReversal',
    method: 'get',
    path: '/reversals/{ref_no}',
    tag: 'Reversals',
    summary: 'Get one reversal',
    roles: ALL,
    answer: records.reversal,
    refusals: [['transaction_not_found']],
  },
  getBalance: {
    id: 'getBalance',
    method: 'get',
    path: '/wallets/balance',
    tag: 'Wallets',
    summary: 'Get the balances of both wallets',
    roles: MONEY,
    answer: records.walletBalance,
    refusals: [['wallet_missing']],
  },
  listTransactions: {
    id: 'listTransactions',
    method: 'get',
    path: '/wallets/transactions',
    tag: 'Wallets',
    summary: 'List wallet transactions',
    description: 'Every movement of both wallets, newest first, with the balance after it.',
    roles: MONEY,
    query: inputs.walletTransactionsQuery,
    answer: records.walletTransactions,
    refusals: [],
  },
  transfer: {
    id: 'transfer',
    method: 'post',
    path: '/wallets/transfers',
    tag: 'Wallets',
    summary: 'Move money to the payout wallet',
    description: 'From the collection wallet to the payout wallet, at once.',
    roles: ADMIN,
    approvedFor: 'transfers',
    body: inputs.newTransfer,
    answer: records.walletTransaction,
    refusals: [['insufficient_balance', 'collection'], ['wallet_missing'], ['duplicate_reference']],
  },
  listChannels: {
    id: 'listChannels',
    method: 'get',
    path: '/channels',
    tag: 'Channels',
    summary: 'List payment channels',
    roles: ALL,
    query: inputs.channelsQuery,
    answer: records.channels,
    refusals: [],
  },
} as const satisfies Record<string, Endpoint>;
