import * as bodies from '../schemas/bodies.ts';
import * as queries from '../schemas/queries.ts';
import * as records from '../schemas/records.ts';
import { ALL, type Endpoint, MONEY } from './endpoint.ts';

export const collectionsEndpoints = {
  initiateCollection: {
    method: 'post',
    path: '/collections/checkouts/initiate',
    tag: 'Collections',
    summary: 'Charge a customer',
    description:
      'Records the collection and prompts the customer. The outcome comes as a webhook to `callback_url`; the answer only says that it was accepted.',
    roles: MONEY,
    approvedFor: 'collections',
    product: 'collections',
    body: bodies.newCollection,
    answer: records.collection,
    refusals: [
      ['app_not_found'],
      ['field_required', 'app_code'],
      ['channel_not_available', '63903'],
      ['wallet_missing'],
      ['duplicate_reference'],
      ['channel_paused'],
    ],
  },
  listCollections: {
    method: 'get',
    path: '/collections/checkouts',
    tag: 'Collections',
    summary: 'List collections',
    description: 'Newest first. Follow `next`: it stays in step while collections are added.',
    roles: ALL,
    query: queries.payments,
    answer: records.collections,
  },
  getCollection: {
    method: 'get',
    path: '/collections/checkouts/{checkout_id}',
    tag: 'Collections',
    summary: 'Get one collection',
    roles: ALL,
    answer: records.collectionDetail,
    refusals: [['transaction_not_found']],
  },
  listCollectionsDeprecated: {
    method: 'get',
    path: '/collections/list',
    tag: 'Collections',
    summary: 'List collections (deprecated)',
    description: 'Will be removed in a future version; use `GET /wallets/transactions`.',
    roles: ALL,
    query: queries.deprecatedPayments,
    answer: records.listedCollections,
    deprecated: true,
  },
} as const satisfies Record<string, Endpoint>;
