import * as records from '../../records/wallets.ts';
import * as bodies from '../schemas/bodies.ts';
import * as queries from '../schemas/queries.ts';
import { ADMIN, ALL, type Endpoint, envelope, MONEY } from './endpoint.ts';

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
    answer: envelope(records.walletTransaction.schema),
  },
  createTransfer: {
    method: 'post',
    path: '/wallets/transfers',
    summary: 'Move money to the payout wallet',
    description: 'From the collection wallet to the payout wallet, at once.',
    roles: ADMIN,
    approvedFor: 'transfers',
    body: bodies.newTransfer,
    answer: records.walletTransaction.schema,
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
    answer: envelope(records.channel.schema),
  },
} as const satisfies Record<string, Endpoint>;
