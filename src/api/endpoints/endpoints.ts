import { accessEndpoints, ownAccessEndpoints } from './access.ts';
import {
  channelsEndpoints,
  collectionsEndpoints,
  payoutsEndpoints,
  reversalsEndpoints,
  walletsEndpoints,
} from './payments.ts';
import { webhooksEndpoints } from './webhooks.ts';

export {
  type Endpoint,
  type Fields,
  pathParameters,
  patternOf,
  type Refused,
  takesKey,
} from './endpoint.ts';

/** The endpoints by the section of the documentation that describes them. */
export const SECTIONS = {
  Access: accessEndpoints,
  'Own access': ownAccessEndpoints,
  Collections: collectionsEndpoints,
  Payouts: payoutsEndpoints,
  Reversals: reversalsEndpoints,
  Wallets: walletsEndpoints,
  Channels: channelsEndpoints,
  'Events and webhooks': webhooksEndpoints,
};

/** Describes each section in one line. A new section does not compile without its line. */
export const SECTION_DESCRIPTIONS: Readonly<Record<keyof typeof SECTIONS, string>> = {
  Access: 'Tokens for apps and for people.',
  'Own access': 'Sessions, passwords and one-time passwords, each of the person who asks.',
  Collections: 'Money that customers pay in.',
  Payouts: 'Money that is paid out of the payout wallet.',
  Reversals: 'Collections that are given back, in full.',
  Wallets: 'Balances, movements and transfers of the two wallets.',
  Channels: 'The ways to move money, with their limits.',
  'Events and webhooks': 'What you were told, and what became of it. Resend it, or read it again.',
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
  ...webhooksEndpoints,
};
