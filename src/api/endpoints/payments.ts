import * as records from '../../records/payments.ts';
import * as wallets from '../../records/wallets.ts';
import * as bodies from '../schemas/bodies.ts';
import * as queries from '../schemas/queries.ts';
import {
  ADMIN,
  ALL,
  deprecatedListOf,
  detailOf,
  type Endpoint,
  envelope,
  listOf,
  MONEY,
} from './endpoint.ts';

export const collectionsEndpoints = {
  initiateCollection: {
    method: 'post',
    path: '/collections/checkouts/initiate',
    summary: 'Charge a customer',
    description:
      'Records the collection and prompts the customer. The outcome comes as a webhook to `callback_url`; the answer only says that it was accepted.',
    roles: MONEY,
    approvedFor: 'collections',
    product: 'collections',
    body: bodies.newCollection,
    answer: records.collection.schema,
    refusals: [
      ['amount_not_whole'],
      ['amount_below_channel'],
      ['amount_above_channel'],
      ['app_not_found'],
      ['field_required', 'app_code'],
      ['channel_not_available', '63903'],
      ['wallet_missing'],
      ['duplicate_ref_no'],
      ['channel_paused'],
    ],
  },
  listCollections: listOf(
    '/collections/checkouts',
    'collections',
    queries.payments,
    records.collectionDetail.schema,
  ),
  getCollection: detailOf(
    '/collections/checkouts/{checkout_id}',
    'collection',
    records.collectionDetail.schema,
  ),
  listCollectionsDeprecated: deprecatedListOf(
    '/collections/list',
    'collections',
    records.listedCollection.schema,
  ),
} as const satisfies Record<string, Endpoint>;

export const payoutsEndpoints = {
  initiatePayout: {
    method: 'post',
    path: '/payouts/initiate',
    summary: 'Pay a recipient',
    description:
      'Debits the payout wallet and sends the money to a phone or a bank account. The outcome comes as a webhook to `callback_url`; the money of a payout that fails is put back into the wallet first, and until then its status is `processing`: do not pay again before it is `failed`.',
    roles: MONEY,
    approvedFor: 'payouts',
    product: 'payouts',
    body: bodies.newPayout,
    answer: records.payout.schema,
    refusals: [
      ['amount_not_whole'],
      ['amount_below_channel'],
      ['amount_above_channel'],
      ['invalid_channel', '99'],
      ['channel_required'],
      ['channel_not_available', '68'],
      ['insufficient_balance', 'payout'],
      ['insufficient_balance', 'collection'],
      ['app_not_found'],
      ['wallet_missing'],
      ['duplicate_ref_no'],
      ['channel_paused'],
    ],
  },
  listPayouts: listOf('/payouts', 'payouts', queries.payments, records.payoutDetail.schema),
  // Before getPayout, whose path matches this one too.
  listPayoutsDeprecated: deprecatedListOf('/payouts/list', 'payouts', records.listedPayout.schema),
  getPayout: detailOf('/payouts/{payout_id}', 'payout', records.payoutDetail.schema),
} as const satisfies Record<string, Endpoint>;

export const reversalsEndpoints = {
  initiateReversal: {
    method: 'post',
    path: '/reversals/initiate',
    summary: 'Give a collection back',
    description:
      'Gives a completed collection back to the customer, in full. Waits up to 10 s for the network to take it: status 1 says that it has, not that it is done; status 0 that the receipt of the collection is awaited first, or that your payouts and reversals are held. The outcome comes as a webhook to `callback_url`. After a 502 the reversal is recorded and goes on: never send it under another `ref_no` before it has failed. Ask `GET /reversals/{ref_no}`, or send the same request with the same Idempotency-Key again: it answers 200 with the reversal as it is then, and Idempotent-Replayed: true.',
    roles: MONEY,
    approvedFor: 'reversals',
    product: 'collections',
    body: bodies.newReversal,
    answer: records.reversal.schema,
    refusals: [
      ['amount_not_of_collection'],
      ['collection_not_completed'],
      ['transaction_not_found', 'checkout_ref_no'],
      ['reversal_done'],
      ['reversal_in_progress'],
      ['duplicate_ref_no'],
      ['channel_paused'],
      ['gateway_unreachable'],
    ],
  },
  listReversals: listOf('/reversals', 'reversals', queries.reversals, records.reversal.schema),
  getReversal: detailOf('/reversals/{ref_no}', 'reversal', records.reversal.schema),
} as const satisfies Record<string, Endpoint>;

export const walletsEndpoints = {
  getBalance: {
    method: 'get',
    path: '/wallets/balance',
    summary: 'Get the balances of both wallets',
    roles: MONEY,
    answer: wallets.walletBalance,
    refusals: [['wallet_missing']],
  },
  listTransactions: {
    method: 'get',
    path: '/wallets/transactions',
    summary: 'List wallet transactions',
    description: 'Every movement of both wallets, newest first, with the balance after it.',
    roles: MONEY,
    query: queries.walletTransactions,
    answer: envelope(wallets.walletTransaction.schema),
  },
  createTransfer: {
    method: 'post',
    path: '/wallets/transfers',
    summary: 'Move money to the payout wallet',
    description: 'From the collection wallet to the payout wallet, at once.',
    roles: ADMIN,
    approvedFor: 'transfers',
    body: bodies.newTransfer,
    answer: wallets.walletTransaction.schema,
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
    answer: envelope(wallets.channel.schema),
  },
} as const satisfies Record<string, Endpoint>;
