import { accessEndpoints } from './access.ts';
import { collectionsEndpoints } from './collections.ts';
import { payoutsEndpoints } from './payouts.ts';
import { reversalsEndpoints } from './reversals.ts';
import { walletsEndpoints } from './wallets.ts';

export { type Endpoint, type Refused, TAGS } from './endpoint.ts';

/** Every endpoint of the API by its id. Requests are checked by this table, and documented from it. */
export const endpoints = {
  ...accessEndpoints,
  ...collectionsEndpoints,
  ...payoutsEndpoints,
  ...reversalsEndpoints,
  ...walletsEndpoints,
} as const;
