import type { Deadline } from '../../time.ts';
import type { Pace } from '../pace.ts';
import type { DarajaShortcode } from './settings.ts';

/** One shortcode with what calls about it need. */
export interface DarajaAccount {
  client: DarajaClient;
  pace: Pace;
  settings: DarajaShortcode;
}

/** The user who acts for the operator at Safaricom. */
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

/**
 * - answered: a complete answer came. `body` is undefined when it is not JSON.
 * - neverSent: nobody can have processed the call.
 * - lost: no complete answer came, and the call may have been processed.
 */
export type DarajaAnswer =
  | { outcome: 'answered'; status: number; body: unknown }
  | { outcome: 'neverSent'; reason: string; retryAfterMs?: number }
  | { outcome: 'lost'; reason: string };

export interface DarajaClient {
  /** Gets an access token, or takes the one at hand. @returns why Daraja gave no token, or null */
  authenticate(): Promise<string | null>;
  /** Makes one call. Nothing of it leaves after the deadline. Never throws for an outcome. */
  post(path: string, body: Record<string, unknown>, deadline?: Deadline): Promise<DarajaAnswer>;
}
