import { Cluster } from 'ioredis';
import { openRedis, type RedisAddress, type RedisClient } from './redis.ts';

const ANSWER_TIMEOUT_MS = 3_000;

/**
 * A line when Redis may throw jobs away to make room, or does not say; null when it will
 * not, and when it cannot be reached, of which others speak.
 */
export async function redisWarning(address: RedisAddress): Promise<string | null> {
  const client = openRedis(address, {
    lazyConnect: true,
    // Who may not ask for INFO is told so below, and not in the log.
    enableReadyCheck: false,
    connectTimeout: ANSWER_TIMEOUT_MS,
    commandTimeout: ANSWER_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.ping();
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const policies = await Promise.all(nodes.map(policyOf));
    const wrong = policies.find((policy) => policy !== 'noeviction');
    if (wrong === undefined) return null;
    return wrong === null
      ? 'Redis tells neither by CONFIG GET nor by INFO whether it evicts keys: see that its maxmemory-policy is noeviction'
      : `Redis may evict jobs when its memory is full (maxmemory-policy ${wrong}): set it to noeviction. What is lost is enqueued again, late`;
  } catch {
    return null;
  } finally {
    client.disconnect();
  }
}

/** Managed servers forbid CONFIG; null when INFO is forbidden as well. */
async function policyOf(client: Exclude<RedisClient, Cluster>): Promise<string | null> {
  const answer = await client.config('GET', 'maxmemory-policy').catch(() => null);
  if (Array.isArray(answer) && answer[1]) return String(answer[1]);
  const info = await client.info('memory').catch(() => '');
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null;
}
