import type { Response } from 'express';
import { Refusal } from '../../domain/errors.ts';
import type { Caller } from '../../domain/identity/authenticate.ts';
import { networkOf } from '../../http/caller-network.ts';
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
  const decision = await rateLimiter.take('merchant', String(caller.merchant_id), limit);
  res.set({
    'X-RateLimit-Limit': String(limit.perMinute),
    'X-RateLimit-Remaining': String(decision.remaining),
    'X-RateLimit-Reset': String(Math.ceil((Date.now() + decision.fullInMs) / SECOND_MS)),
  });
  if (!decision.allowed) throw rateLimited(decision);
}

/** @returns the refusal of a request that must wait. */
export function rateLimited({ retryInMs }: Pick<Decision, 'retryInMs'>): Refusal {
  return new Refusal('rate_limited', '', Math.max(1, Math.ceil(retryInMs / SECOND_MS)));
}

/** Tokens for one address. Each is a row that is kept for days. */
const TOKENS_PER_ADDRESS: Limit = { perMinute: 300, burst: 300 };

/** Limits how many tokens one address may ask for. @throws Refusal `rate_limited` */
export async function limitTokens({ rateLimiter }: ApiContext, ip: string | null): Promise<void> {
  const decision = await rateLimiter.take('tokens', networkOf(ip), TOKENS_PER_ADDRESS);
  if (!decision.allowed) throw rateLimited(decision);
}

/** Requests with revoked tokens of one family. A program that does not look at its answers. */
const REVOKED_PER_FAMILY: Limit = { perMinute: 60, burst: 60 };

/**
 * Runs a check of a token, and limits how often tokens of one family are refused as revoked.
 * @throws Refusal `rate_limited`, and what `check` throws
 */
export async function limitRevoked<Result>(
  { rateLimiter }: Pick<ApiContext, 'rateLimiter'>,
  check: () => Promise<Result>,
): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    const event = error instanceof Refusal ? error.event : null;
    if (event?.kind === 'revoked_token_used') {
      const decision = await rateLimiter.take('revoked', String(event.family), REVOKED_PER_FAMILY);
      if (!decision.allowed) throw rateLimited(decision).recordedAs(event);
    }
    throw error;
  }
}
