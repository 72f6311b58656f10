import { MINUTE_MS } from '../../time.ts';

/** After a failed renewal nobody tries again for so long: wrong credentials must not storm. */
export const RENEWAL_PAUSE_MS = 5_000;
/** A token is renewed so long before its end, or at half of a life that is shorter than twice this. */
export const RENEW_EARLY_MS = MINUTE_MS;

/** An access token of a gateway. Later tokens of an account have higher numbers. */
export interface AccessToken {
  number: number;
  value: string;
  /** The time until it is due for renewal. Not positive: it is due. */
  validForMs: number;
  /** The time until its end, which is later. */
  endsInMs: number;
}

/** A token as the gateway gives it. */
export interface FreshToken {
  value: string;
  /** The time from now until its end. */
  lifeMs: number;
}

/** The state of an account's token that all processes share. */
export interface TokenState {
  /** The number of the newest token, also of one that cannot be decrypted; 0 before the first. */
  number: number;
  token: AccessToken | null;
  /** The time since the newest token came. */
  ageMs: number;
  /** A process asks for the next token. */
  isRenewing: boolean;
  /** The newest renewal failed, and nobody tries again before `retryAfterMs`. */
  pause: { reason: string; retryAfterMs: number } | null;
}

/** The one place where the processes share access tokens. `account` names an account in a hash. */
export interface TokenStore {
  read(account: string): Promise<TokenState>;
  /**
   * Takes the lease that lets one process ask for the token after `number`.
   * @returns the holder, or null when another has the lease, a pause is on or a newer token is there
   */
  claim(account: string, number: number, leaseMs: number): Promise<string | null>;
  /** Stores the next token and ends the lease. Does nothing when the lease went to another. */
  save(account: string, holder: string, fresh: FreshToken): Promise<void>;
  /** Records in plain words why there is no token, begins a pause, and else does as `save`. */
  fail(account: string, holder: string, reason: string): Promise<void>;
}
