import { Cluster } from 'ioredis';
import { askRedis, type RedisAddress, type RedisClient } from './redis.ts';

const ANSWER_TIMEOUT_MS = 3_000;
/** The check asks for INFO, and would log that this user may not. `policyOf` deals with that. */
const QUIETLY = { enableReadyCheck: false };

/**
 * Returns a line when Redis may drop jobs to make room, or does not say. Returns null when it
 * drops none, and when it cannot be reached, which others report.
 */
export async function redisWarning(address: RedisAddress): Promise<string | null> {
  return askRedis(address, ANSWER_TIMEOUT_MS, evictionWarning, QUIETLY).catch(() => null);
}

async function evictionWarning(client: RedisClient): Promise<string | null> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const policies = await Promise.all(nodes.map(policyOf));
  const wrong = policies.find((policy) => policy !== 'noeviction');
  if (wrong === undefined) return null;
  return wrong === null
    ? 'Redis tells neither by CONFIG GET nor by INFO whether it evicts keys: see that its maxmemory-policy is noeviction'
    : `Redis may evict jobs when its memory is full (maxmemory-policy ${wrong}): set it to noeviction. What is lost is enqueued again, late`;
}

/** Asks by CONFIG, which managed servers forbid, and then by INFO. Null when both are forbidden. */
async function policyOf(client: Exclude<RedisClient, Cluster>): Promise<string | null> {
  const answer = await client.config('GET', 'maxmemory-policy').catch(() => null);
  if (Array.isArray(answer) && answer[1]) return String(answer[1]);
  const info = await client.info('memory').catch(() => '');
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null;
}
