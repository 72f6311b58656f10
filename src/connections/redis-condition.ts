import { Cluster, type Redis } from 'ioredis';
import { atMostEvery } from './at-most-every.ts';
import { connectionAdvice, REDIS_SETTINGS } from './connection-advice.ts';
import { messageOf } from './database-errors.ts';
import { inTime } from './in-time.ts';
import { askRedis, type RedisAddress, type RedisClient } from './redis.ts';

/** What is wrong with something that a process works with, in lines. */
export interface Condition {
  /** Why jobs would be lost, or run nowhere. Null: they are not. */
  problem: string | null;
  /** What should be mended although the work goes on. */
  warnings: string[];
}

const ANSWER_TIMEOUT_MS = 3_000;
/** The check asks for INFO, and would log that this user may not. `policyOf` deals with that. */
const QUIETLY = { enableReadyCheck: false };

/** Looks at a Redis that keeps the queues. @throws Error when it cannot be reached */
export async function redisCondition(address: RedisAddress): Promise<Condition> {
  return askRedis(address, ANSWER_TIMEOUT_MS, conditionOf, QUIETLY);
}

async function conditionOf(client: RedisClient): Promise<Condition> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const replicas = await Promise.all(nodes.map(isReplica));
  const policies = await Promise.all(nodes.map(policyOf));
  const wrong = policies.find((policy) => policy !== 'noeviction');
  const losing = policies.find((policy) => policy?.startsWith('allkeys-'));
  const problems = [
    replicas.includes(true) ? REPLICA : null,
    losing ? `${JOBS} (${POLICY} ${losing}): ${SET_IT}` : null,
  ].filter((line) => line !== null);
  const problem = problems.length > 0 ? problems.join('. ') : null;
  if (losing || wrong === undefined) return { problem, warnings: [] };
  return {
    problem,
    warnings: [wrong === null ? UNTOLD : `${LOCKS} (${POLICY} ${wrong}): ${SET_IT}`],
  };
}

const POLICY = 'maxmemory-policy';
const SET_IT = 'set it to noeviction';
const JOBS = 'Redis drops jobs when its memory is full, and they are enqueued again late';
const REPLICA =
  'Redis is a replica and takes no jobs: set REDIS_URL to the primary, or promote the replica';
// Locks expire, so these policies drop them. Jobs do not expire.
const LOCKS = 'Redis drops the locks of jobs when its memory is full, so a job may run twice';
const UNTOLD = `Redis tells neither by CONFIG GET nor by INFO whether it drops keys: see that its ${POLICY} is noeviction`;

async function isReplica(client: Redis): Promise<boolean> {
  return /^role:slave/m.test(await client.info('replication').catch(() => ''));
}

/** Asks by CONFIG, which managed servers forbid, and then by INFO. Null when both are forbidden. */
async function policyOf(client: Redis): Promise<string | null> {
  const answer = await client.config('GET', POLICY).catch(() => null);
  if (Array.isArray(answer) && answer[1]) return String(answer[1]);
  const info = await client.info('memory').catch(() => '');
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null;
}

/** Redis is asked no more often than this, however many probes come. */
const MAX_AGE_MS = 5_000;
/** Shorter than load balancers wait. */
const PROBE_TIMEOUT_MS = 2_000;

/** Returns a function that tells the condition of Redis to any number of probes. It never throws. */
export function createRedisProbe(address: RedisAddress): () => Promise<Condition> {
  let condition: Condition;
  const refresh = atMostEvery(MAX_AGE_MS, async () => {
    condition = await inTime(redisCondition(address), PROBE_TIMEOUT_MS, 'no answer').catch(
      (error) => ({ problem: whyUnreachable(error), warnings: [] }),
    );
  });
  return async () => {
    await refresh();
    return condition;
  };
}

/** Says in one line why Redis cannot be used, and what to do. */
export function whyUnreachable(error: unknown): string {
  const isSingle = /cluster support disabled/.test((error as Error).message);
  const advice = isSingle
    ? 'it is no Redis Cluster: remove REDIS_CLUSTER'
    : connectionAdvice(error, REDIS_SETTINGS);
  return `REDIS_URL cannot be used: ${advice ?? messageOf(error)}`;
}
