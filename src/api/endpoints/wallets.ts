import * as bodies from '../schemas/bodies.ts';
import { envelope } from '../schemas/fields.ts';
import * as queries from '../schemas/queries.ts';
import * as records from '../schemas/records.ts';
import { ADMIN, ALL, type Endpoint, MONEY } from './endpoint.ts';

export const walletsEndpoints = {
  getBalance: {
    method: 'get',
    path: '/wallets/balance',
    summary: 'Get the balances of both wallets',
    roles: MONEY,
    answer: records.walletBalance,
    refusals: [['wallet_missing']],
  },
  listTransactions: {
    method: 'get',
    path: '/wallets/transactions',
    summary: 'List wallet transactions',
    description: 'Every movement of both wallets, newest first, with the balance after it.',
    roles: MONEY,
    query: queries.walletTransactions,
    answer: envelope(records.walletTransaction),
  },
  createTransfer: {
    method: 'post',
    path: '/wallets/transfers',
    summary: 'Move money to the payout wallet',
    description: 'From the collection wallet to the payout wallet, at once.',
    roles: ADMIN,
    approvedFor: 'transfers',
    body: bodies.newTransfer,
    answer: records.walletTransaction,
    refusals: [['insufficient_balance', 'collection'], ['wallet_missing'], ['duplicate_ref_no']],
  },
} as const satisfies Record<string, Endpoint>;

export const channelsEndpoints = {
  listChannels: {
    method: 'get',
    path: '/channels',
    summary: 'List payment channels',
    roles: ALL,
    query: queries.channels,
    answer: envelope(records.channel),
  },
} as const satisfies Record<string, Endpoint>;
