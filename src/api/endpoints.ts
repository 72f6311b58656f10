import { accessEndpoints } from './endpoints/access.ts';
import { collectionsEndpoints } from './endpoints/collections.ts';
import { payoutsEndpoints } from './endpoints/payouts.ts';
import { reversalsEndpoints } from './endpoints/reversals.ts';
import { walletsEndpoints } from './endpoints/wallets.ts';

export { type Endpoint, TAGS } from './endpoints/endpoint.ts';

/**
 * Every endpoint of the API. What is checked at the door, and the documentation, are both
 * made from this table.
 */
export const endpoints = {
  ...accessEndpoints,
  ...collectionsEndpoints,
  ...payoutsEndpoints,
  ...reversalsEndpoints,
  ...walletsEndpoints,
} as const;
