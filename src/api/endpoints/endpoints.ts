import { accessEndpoints } from './access.ts';
import { ownAccessEndpoints } from './own-access.ts';
import { collectionsEndpoints, payoutsEndpoints, reversalsEndpoints } from './payments.ts';
import { channelsEndpoints, walletsEndpoints } from './wallets.ts';

export { type Endpoint, patternOf, type Refused, takesKey } from './endpoint.ts';

/** The endpoints by the section of the documentation that describes them. */
export const SECTIONS = {
  Access: accessEndpoints,
  'Own access': ownAccessEndpoints,
  Collections: collectionsEndpoints,
  Payouts: payoutsEndpoints,
  Reversals: reversalsEndpoints,
  Wallets: walletsEndpoints,
  Channels: channelsEndpoints,
};

/** Every endpoint of the API by its id. Requests are checked by this table, and documented from it. */
export const endpoints = {
  ...accessEndpoints,
  ...ownAccessEndpoints,
  ...collectionsEndpoints,
  ...payoutsEndpoints,
  ...reversalsEndpoints,
  ...walletsEndpoints,
  ...channelsEndpoints,
};
