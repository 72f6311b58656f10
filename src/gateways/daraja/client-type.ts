import type { Deadline } from '../../time.ts';

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
  /** Gets an access token, or takes the one at hand. @returns why there is none, or null */
  authenticate(): Promise<string | null>;
  /** Makes one call. Nothing of it leaves after the deadline. Never throws for an outcome. */
  post(path: string, body: Record<string, unknown>, deadline?: Deadline): Promise<DarajaAnswer>;
}
