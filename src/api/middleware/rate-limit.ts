import type { Response } from 'express';
import type { RedisClient } from '../../connections/redis.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { Refusal } from '../../domain/errors.ts';
import { networkOf } from '../../http/caller.ts';
import { MINUTE_MS, SECOND_MS, waitAtMost } from '../../time.ts';
import type { ApiContext } from '../context.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';

/**
 * Counts a request against its merchant's limit, and sets the headers that say what is left.
 * @throws Refusal `rate_limited`
 */
export async function limitMerchant(
  { config, rateLimiter }: ApiContext,
  endpoint: Pick<Endpoint, 'method' | 'approvedFor'>,
  caller: Caller,
  res: Response,
): Promise<void> {
  const use = useOf(endpoint, caller);
  const own = use === 'payouts' ? caller.ownPayoutLimit : caller.ownLimit;
  const limit = {
    perMinute: own.perMinute ?? config.rateLimit.perMinute,
    burst: own.burst ?? config.rateLimit.burst,
  };
  const decision = await rateLimiter.take(use, String(caller.merchant_id), limit);
  res.set({
    'X-RateLimit-Limit': String(limit.perMinute),
    'X-RateLimit-Remaining': String(decision.remaining),
    'X-RateLimit-Reset': String(Math.ceil((Date.now() + decision.fullInMs) / SECOND_MS)),
  });
  if (!decision.allowed) throw rateLimited(decision);
}

/** Neither a list of salaries nor people who read take requests from the merchant's other programs. */
function useOf(
  { method, approvedFor }: Pick<Endpoint, 'method' | 'approvedFor'>,
  { role }: Pick<Caller, 'role'>,
): 'merchant' | 'payouts' | 'people' {
  if (approvedFor === 'payouts') return 'payouts';
  return role !== null && method === 'get' ? 'people' : 'merchant';
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

/** A token bucket: it holds `burst` requests and refills evenly, `perMinute` requests a minute. */
export interface Limit {
  perMinute: number;
  burst: number;
}

interface Decision {
  allowed: boolean;
  /** Requests that are allowed right now. */
  remaining: number;
  /** Time until the bucket is full again. */
  fullInMs: number;
  /** Time until the next request is allowed; 0 when one is allowed now. */
  retryInMs: number;
}

/** Each use of the limiter has a store of buckets, so that a flood of one use evicts no other's. */
export type BucketUse =
  | 'merchant'
  | 'payouts'
  | 'people'
  | 'tokens'
  | 'failures-of-address'
  | 'failures-of-account'
  | 'revoked';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** The longest wait for an answer of Redis. */
export const ANSWER_TIMEOUT_MS = 50;
/** The pause after Redis has not answered, so that not every request waits for it. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** A Redis that the web processes of an installation share, perhaps with other installations. */
export interface SharedRedis {
  redis: RedisClient;
  installationId: string;
}

/** Limits through Redis, for all processes, or in this one alone while there is no Redis. */
export function createRateLimiter(shared: SharedRedis | null) {
  const local = new Map<BucketUse, LocalBuckets>();
  const changeHere = (use: BucketUse, key: string, limit: Limit, cost: number): Decision => {
    const buckets = local.get(use) ?? new LocalBuckets();
    local.set(use, buckets);
    return buckets.change(key, limit, cost);
  };
  let awayUntil = 0;
  const change = async (
    use: BucketUse,
    key: string,
    limit: Limit,
    cost: number,
  ): Promise<Decision> => {
    if (!shared || Date.now() < awayUntil) return changeHere(use, key, limit, cost);
    try {
      const perMs = limit.perMinute / MINUTE_MS;
      const bucket = `{malipo-${shared.installationId}}:rate:${use}:${key}`;
      const answer = shared.redis.eval(BUCKET, 1, bucket, limit.burst, perMs, cost);
      const reply = await waitAtMost(answer, ANSWER_TIMEOUT_MS, 'No answer in time');
      const [allowed, remaining, fullInMs, retryInMs] = reply as [number, number, number, number];
      return { allowed: allowed === 1, remaining, fullInMs, retryInMs };
    } catch {
      awayUntil = Date.now() + PAUSE_AFTER_FAILURE_MS;
      return changeHere(use, key, limit, cost);
    }
  };
  return {
    /** Takes one request out of a bucket, if one is left. */
    take: (use: BucketUse, key: string, limit: Limit) => change(use, key, limit, 1),
    /** Puts a request back that turned out not to count. */
    giveBack: (use: BucketUse, key: string, limit: Limit) => change(use, key, limit, -1),
  };
}

/** Takes requests out of a bucket by the clock of Redis, so that all processes agree. */
const BUCKET = `
local burst, per_ms, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = burst
if state[1] then
  tokens = math.min(burst, tonumber(state[1]) + math.max(0, now - tonumber(state[2])) * per_ms)
end
local allowed = 0
if tokens >= cost then
  tokens = math.min(burst, tokens - cost)
  allowed = 1
end
local full_in = math.ceil((burst - tokens) / per_ms)
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(now))
redis.call('PEXPIRE', KEYS[1], full_in + 1000)
local retry_in = 0
if tokens < 1 then retry_in = math.ceil((1 - tokens) / per_ms) end
return { allowed, math.floor(tokens), full_in, retry_in }
`;

/** Above this number of one use, the bucket that was used least recently is dropped. */
const MAX_LOCAL_BUCKETS = 10_000;

class LocalBuckets {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  change(key: string, { perMinute, burst }: Limit, cost: number): Decision {
    const now = performance.now();
    const perMs = perMinute / MINUTE_MS;
    const before = this.#buckets.get(key) ?? { tokens: burst, at: now };
    let tokens = Math.min(burst, before.tokens + (now - before.at) * perMs);
    const allowed = tokens >= cost;
    if (allowed) tokens = Math.min(burst, tokens - cost);
    // A key that is deleted and set again moves to the end, so the first key is the oldest.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens, at: now });
    if (this.#buckets.size > MAX_LOCAL_BUCKETS) {
      this.#buckets.delete(this.#buckets.keys().next().value!);
    }
    return {
      allowed,
      remaining: Math.floor(tokens),
      fullInMs: Math.ceil((burst - tokens) / perMs),
      retryInMs: tokens < 1 ? Math.ceil((1 - tokens) / perMs) : 0,
    };
  }
}
