import * as bodies from '../schemas/bodies.ts';
import * as queries from '../schemas/queries.ts';
import * as records from '../schemas/records.ts';
import { ALL, type Endpoint, MONEY } from './endpoint.ts';

export const reversalsEndpoints = {
  initiateReversal: {
    method: 'post',
    path: '/reversals/initiate',
    tag: 'Reversals',
    summary: 'Give a collection back',
    description:
      'Gives a completed collection back to the customer, in full. Waits up to 10 s for the network to take it: status 1 says that it has, not that it is done; status 0 that the receipt of the collection is awaited first. The outcome comes as a webhook to `callback_url`.',
    roles: MONEY,
    approvedFor: 'reversals',
    product: 'collections',
    body: bodies.newReversal,
    answer: records.reversal,
    refusals: [
      ['collection_not_completed'],
      ['transaction_not_found'],
      ['reversal_done'],
      ['reversal_in_progress'],
      ['duplicate_reference'],
      ['channel_paused'],
      ['gateway_unreachable'],
    ],
  },
  listReversals: {
    method: 'get',
    path: '/reversals',
    tag: 'Reversals',
    summary: 'List reversals',
    description: 'Newest first. Follow `next`: it stays in step while reversals are added.',
    roles: ALL,
    query: queries.reversals,
    answer: records.reversals,
  },
  getReversal: {
    method: 'get',
    path: '/reversals/{ref_no}',
    tag: 'Reversals',
    summary: 'Get one reversal',
    roles: ALL,
    answer: records.reversal,
    refusals: [['transaction_not_found']],
  },
} as const satisfies Record<string, Endpoint>;
