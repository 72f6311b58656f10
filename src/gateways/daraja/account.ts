import type { Pace } from '../pace.ts';
import type { DarajaClient } from './client-type.ts';
import type { DarajaShortcode } from './config.ts';

/** One shortcode with what calls about it need. */
export interface DarajaAccount {
  client: DarajaClient;
  pace: Pace;
  settings: DarajaShortcode;
}

/** Whoever acts for the operator at Safaricom. */
export interface Initiator {
  name: string;
  credential: string;
}

/** Returns the initiator of a shortcode, or null when none is configured. */
export function initiatorOf({ initiator, securityCredential }: DarajaShortcode): Initiator | null {
  if (initiator === null || securityCredential === null) return null;
  return { name: initiator, credential: securityCredential };
}

/** Says for the operator that an initiator is missing. */
export function noInitiator({ shortcode }: DarajaShortcode): string {
  return `No initiator is configured for ${shortcode}`;
}
