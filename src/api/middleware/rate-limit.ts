import { isIP } from 'node:net';
import type { Response } from 'express';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import type { Caller } from '../../domain/identity/authenticate.ts';
import type { ApiContext } from '../context.ts';
import type { Decision, Limit } from '../rate-limiter.ts';

const SECOND_MS = 1_000;

/**
 * Counts a request against its merchant's limit, and sets the headers that say what is left.
 * @throws Refusal `rate_limited`
 */
export async function limitMerchant(
  { config, rateLimiter }: ApiContext,
  caller: Caller,
  res: Response,
): Promise<void> {
  const limit = {
    perMinute: caller.ownLimit.perMinute ?? config.rateLimit.perMinute,
    burst: caller.ownLimit.burst ?? config.rateLimit.burst,
  };
  const decision = await rateLimiter.take(`merchant:${caller.merchant_id}`, limit);
  res.set({
    'X-RateLimit-Limit': String(limit.perMinute),
    'X-RateLimit-Remaining': String(decision.remaining),
    'X-RateLimit-Reset': String(Math.ceil((Date.now() + decision.fullInMs) / SECOND_MS)),
  });
  if (!decision.allowed) throw rateLimited(decision);
}

function rateLimited({ retryInMs }: Decision): Refusal {
  return new Refusal('rate_limited', '', Math.max(1, Math.ceil(retryInMs / SECOND_MS)));
}

/** Wrong credentials from one address for one account. A person mistypes; a program guesses. */
const PER_ACCOUNT = { perMinute: 10, burst: 10 };
/** Wrong credentials from one address for all accounts. An office may share the address. */
const PER_ADDRESS = { perMinute: 100, burst: 100 };

/** Other refusals come after the credentials were right, so the caller is not guessing. */
const WRONG_CREDENTIALS: ErrorCode[] = [
  'invalid_app_credentials',
  'invalid_credentials',
  'invalid_otp',
];

/** Tokens for one address. Each is a row that is kept for days. */
const TOKENS_PER_ADDRESS = { perMinute: 300, burst: 300 };

/** Limits how many tokens one address may ask for. @throws Refusal `rate_limited` */
export async function limitTokens({ rateLimiter }: ApiContext, ip: string | null): Promise<void> {
  const decision = await rateLimiter.take(`tokens:${networkOf(ip)}`, TOKENS_PER_ADDRESS);
  if (!decision.allowed) throw rateLimited(decision);
}

/** Returns the part of an address that belongs to one caller: of IPv6, the network of 64 bits. */
function networkOf(ip: string | null): string {
  if (ip === null || isIP(ip) !== 6) return String(ip);
  const [head = '', tail] = ip.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(tail ? tail.split(':') : [])];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/**
 * Runs a check of credentials, unless too many have failed from this address, or from it for this
 * account. App log-ins pass no account, because an app's secret cannot be guessed. Only failures
 * count. Each check counts until it has succeeded, so simultaneous checks count too.
 * @throws Refusal `rate_limited`, and what `check` throws
 */
export async function throttleFailures<Result>(
  { rateLimiter }: ApiContext,
  ip: string | null,
  account: string | null,
  check: () => Promise<Result>,
): Promise<Result> {
  const network = networkOf(ip);
  const buckets: [key: string, limit: Limit][] = [[`failures:${network}`, PER_ADDRESS]];
  if (account !== null) buckets.unshift([`failures:${network}:${account}`, PER_ACCOUNT]);
  for (const [key, limit] of buckets) {
    const decision = await rateLimiter.take(key, limit);
    if (!decision.allowed) throw rateLimited(decision);
  }
  let failed = false;
  try {
    return await check();
  } catch (error) {
    failed = error instanceof Refusal && WRONG_CREDENTIALS.includes(error.code);
    throw error;
  } finally {
    if (!failed) {
      for (const [key, limit] of buckets) await rateLimiter.giveBack(key, limit);
    }
  }
}
