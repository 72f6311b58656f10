import { inTime } from '../connections/in-time.ts';
import type { RedisClient } from '../connections/redis.ts';

/** A token bucket: `burst` requests at once, refilled evenly with `perMinute`. */
export interface Limit {
  perMinute: number;
  burst: number;
}

export interface Decision {
  allowed: boolean;
  /** Requests that would be allowed right now. */
  remaining: number;
  /** Until the bucket is full again. */
  fullInMs: number;
  /** Until the next request would be allowed; 0 when one is now. */
  retryInMs: number;
}

/** Buckets by key; shared between processes through Redis where there is one. */
export interface RateLimiter {
  /** Takes one request out of a bucket, if there is one left. */
  take(key: string, limit: Limit): Promise<Decision>;
  /** Puts one back, for what turned out not to count. */
  giveBack(key: string, limit: Limit): Promise<void>;
}

/** How long an answer of Redis is awaited. */
export const ANSWER_TIMEOUT_MS = 50;
/** After a missing answer Redis is left alone for this long: not every request should wait for it. */
const PAUSE_AFTER_FAILURE_MS = 1_000;
const KEY_PREFIX = '{malipo}:rate:';
const MINUTE_MS = 60_000;

/** Limits through Redis, and in this process alone while Redis is away or there is none. */
export function createRateLimiter(redis: RedisClient | null): RateLimiter {
  const local = new LocalBuckets();
  let awayUntil = 0;
  const change = async (key: string, limit: Limit, cost: number): Promise<Decision> => {
    if (!redis || Date.now() < awayUntil) return local.change(key, limit, cost);
    try {
      const perMs = limit.perMinute / MINUTE_MS;
      const answer = redis.eval(BUCKET, 1, KEY_PREFIX + key, limit.burst, perMs, cost);
      const reply = await inTime(answer, ANSWER_TIMEOUT_MS, 'No answer in time');
      const [allowed, remaining, fullInMs, retryInMs] = reply as [number, number, number, number];
      return { allowed: allowed === 1, remaining, fullInMs, retryInMs };
    } catch {
      awayUntil = Date.now() + PAUSE_AFTER_FAILURE_MS;
      return local.change(key, limit, cost);
    }
  };
  return {
    take: (key, limit) => change(key, limit, 1),
    giveBack: async (key, limit) => {
      await change(key, limit, -1);
    },
  };
}

/** One step of a bucket, by the clock of Redis, so that all processes agree. */
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

/** Above this the bucket that was used longest ago is forgotten. */
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
    // Taken out and put in again, a key moves to the end: the first one is the oldest.
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
