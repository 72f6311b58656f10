import * as bodies from '../schemas/bodies.ts';
import * as queries from '../schemas/queries.ts';
import * as records from '../schemas/records.ts';
import { ALL, type Endpoint, MONEY } from './endpoint.ts';

export const payoutsEndpoints = {
  initiatePayout: {
    method: 'post',
    path: '/payouts/initiate',
    tag: 'Payouts',
    summary: 'Pay a recipient',
    description:
      'Debits the payout wallet and sends the money to a phone or a bank account. The outcome comes as a webhook to `callback_url`; a payout that fails is put back into the wallet first.',
    roles: MONEY,
    approvedFor: 'payouts',
    product: 'payouts',
    body: bodies.newPayout,
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
      ['channel_paused'],
    ],
  },
  listPayouts: {
    method: 'get',
    path: '/payouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Newest first. Follow `next`: it stays in step while payouts are added.',
    roles: ALL,
    query: queries.payments,
    answer: records.payouts,
  },
  // Before getPayout, whose path matches this one too.
  listPayoutsDeprecated: {
    method: 'get',
    path: '/payouts/list',
    tag: 'Payouts',
    summary: 'List payouts (deprecated)',
    description: 'Will be removed in a future version; use `GET /wallets/transactions`.',
    roles: ALL,
    query: queries.deprecatedPayments,
    answer: records.listedPayouts,
    deprecated: true,
  },
  getPayout: {
    method: 'get',
    path: '/payouts/{payout_id}',
    tag: 'Payouts',
    summary: 'Get one payout',
    roles: ALL,
    answer: records.payoutDetail,
    refusals: [['transaction_not_found']],
  },
} as const satisfies Record<string, Endpoint>;
