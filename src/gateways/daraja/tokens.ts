import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessToken, TokenStore } from '../../domain/gateway-accounts/access-token.ts';
import { type Deadline, deadlineIn, isPast, msUntil, waitAtMost } from '../../time.ts';

/** The answer of the provider to a question for a token. */
export type FetchedToken =
  | { outcome: 'fetched'; value: string; lifeMs: number }
  | { outcome: 'failed'; reason: string };

export type TokenAnswer = { outcome: 'token'; token: AccessToken } | None;

interface None {
  outcome: 'none';
  reason: string;
  /** The rest of a pause in which nobody asks the provider for a token. */
  retryAfterMs?: number;
}

/**
 * The access tokens of one account. Each call waits at most until its deadline, and never throws.
 */
export interface Tokens {
  get(deadline: Deadline): Promise<TokenAnswer>;
  /** Returns another token than the refused one. Renews the token at most once. */
  afterRefusal(refused: AccessToken, deadline: Deadline): Promise<TokenAnswer>;
}

interface TokensOptions {
  store: TokenStore;
  /** The account's name in the store: a hash. */
  account: string;
  /** Asks the provider for a token, once. Nothing of the request leaves after the deadline. */
  fetchToken: (deadline: Deadline) => Promise<FetchedToken>;
}

/** The limit for one request for a token. */
const FETCH_TIMEOUT_MS = 10_000;
/**
 * Longer than a request, so that two processes never ask at once. Calls wait this long for a dead
 * one.
 */
const LEASE_MS = FETCH_TIMEOUT_MS + 2_000;
/** The pause after which other processes look again whether the holder of the lease has a token. */
const POLL_MS = 100;
/**
 * A token that is refused at this age is not renewed. The provider also says "invalid token" when
 * it has not approved a product, and each renewal may end the token of all other calls.
 */
const MIN_REFUSED_AGE_MS = 30_000;

/** No token has this number: their numbers begin with 1. */
const NONE_REFUSED = 0;

/**
 * Keeps an account's token in memory until it is due, so that a call costs no statement. One
 * process renews it for all, under a lease, with no transaction open.
 */
export function createTokens(options: TokensOptions): Tokens {
  /** The known tokens, and the lookups under way, by the token that was refused. */
  const memory: Memory = { looks: new Map() };
  return {
    get: (deadline) => obtain(options, memory, NONE_REFUSED, deadline),
    afterRefusal: ({ number }, deadline) => obtain(options, memory, number, deadline),
  };
}

interface Memory {
  kept?: { token: AccessToken; until: Deadline };
  looks: Map<number, Promise<Look>>;
}

/** `renewing`: another process asks the provider. */
type Look = TokenAnswer | { outcome: 'renewing' };

/** Returns a failed look as the answer `none`, because the caller's own request has not left. */
async function obtain(
  options: TokensOptions,
  memory: Memory,
  refused: number,
  deadline: Deadline,
): Promise<TokenAnswer> {
  try {
    while (!isPast(deadline)) {
      const look =
        keptToken(memory, refused) ??
        (await waitAtMost(sharedLook(options, memory, refused), msUntil(deadline), TOO_LATE));
      if (look.outcome !== 'renewing') return look;
    }
    return none(TOO_LATE);
  } catch (error) {
    return none((error as Error).message);
  }
}

const TOO_LATE = 'the deadline passed';
const MAX_REASON_LENGTH = 200;

function none(reason: string): None {
  return { outcome: 'none', reason: `No access token: ${reason}`.slice(0, MAX_REASON_LENGTH) };
}

function keptToken({ kept }: Memory, refused: number): Look | null {
  if (!kept || kept.token.number <= refused || isPast(kept.until)) return null;
  return { outcome: 'token', token: kept.token };
}

/** Lets the callers of this process share one look, which goes on after their deadlines. */
function sharedLook(options: TokensOptions, memory: Memory, refused: number): Promise<Look> {
  const known = memory.looks.get(refused);
  if (known) return known;
  const look = lookOnce(options, memory, refused).finally(() => memory.looks.delete(refused));
  memory.looks.set(refused, look);
  return look;
}

async function lookOnce(options: TokensOptions, memory: Memory, refused: number): Promise<Look> {
  const look = await lookOrRenew(options, memory, refused);
  if (look.outcome === 'renewing') await sleep(POLL_MS);
  return look;
}

async function lookOrRenew(options: TokensOptions, memory: Memory, refused: number): Promise<Look> {
  const { store, account } = options;
  // This time begins before the claim, so a process that freezes after its claim asks for nothing.
  const fetchUntil = deadlineIn(FETCH_TIMEOUT_MS);
  const { number, token, ageMs, isRenewing, pause } = await store.read(account);
  const usable = token?.number === refused ? null : token;
  if (usable && usable.validForMs > 0) return keep(memory, usable);
  // A token that is due still works for a while.
  if (pause && usable && usable.endsInMs > 0) return { outcome: 'token', token: usable };
  if (pause) return { ...none(pause.reason), retryAfterMs: pause.retryAfterMs };
  if (isRenewing) return { outcome: 'renewing' };
  if (refused !== NONE_REFUSED && ageMs < MIN_REFUSED_AGE_MS) return none(TOO_YOUNG);
  const holder = await store.claim(account, number, LEASE_MS);
  if (!holder) return { outcome: 'renewing' };
  await renew(options, holder, fetchUntil);
  return lookOrRenew(options, memory, refused);
}

const TOO_YOUNG = 'the newest one is refused and too young to renew. Is the product approved?';

async function renew(
  { store, account, fetchToken }: TokensOptions,
  holder: string,
  until: Deadline,
) {
  const fetched = await fetchToken(until);
  if (fetched.outcome === 'fetched') await store.save(account, holder, fetched);
  else await store.fail(account, holder, fetched.reason);
}

/**
 * Keeps a token until it is due. A slow statement delays this end; a due token still works a while.
 */
function keep(memory: Memory, token: AccessToken): Look {
  memory.kept = { token, until: deadlineIn(token.validForMs) };
  return { outcome: 'token', token };
}
