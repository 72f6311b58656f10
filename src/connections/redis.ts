import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from '../process/logger.ts';
import { atMostEvery, waitAtMost } from '../time.ts';
import { messageOf } from './database-errors.ts';
import { connectionAdvice, REDIS_SETTINGS } from './database-warnings.ts';
import { openCluster } from './redis-cluster.ts';

/** Address of Redis, and how to reach it. `Config` is one. */
export interface RedisAddress {
  /** A cluster has several nodes, comma-separated. The first has user and password. */
  redisUrl?: string | undefined;
  /** Certificates as PEM text that must have signed the server's own. */
  redisCa?: string | undefined;
  redisCluster?: boolean;
  /** The name of the primary that the nodes, which are Sentinels, watch. User and password are the primary's. */
  redisSentinel?: string | undefined;
}

export type RedisClient = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 2_000;
/** A connection that is silent for so long is made anew. */
const SILENCE_MS = 5_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
const DEFAULT_PORT = 6_379;

/**
 * Connects again after a connection was lost, each time after a longer wait; and when the
 * server has become a replica, because the address may lead to another server by now.
 */
export const RECONNECTING = {
  retryStrategy: (tries: number) => Math.min(tries * 100, MAX_RECONNECT_DELAY_MS),
  // Up to version 6, an error of a script begins with the script's name.
  reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
} satisfies RedisOptions;

export function openRedis(address: RedisAddress, options: RedisOptions): RedisClient {
  if (address.redisSentinel) return new Redis(throughSentinels(address, options));
  if (!address.redisCluster) {
    return new Redis(address.redisUrl!, { ...options, ...tlsOf(address) });
  }
  const { retryStrategy, enableOfflineQueue = true, lazyConnect = false, ...ofNodes } = options;
  const { nodes, ...access } = nodesOf(address);
  return openCluster(nodes, {
    clusterRetryStrategy: retryStrategy,
    enableOfflineQueue,
    lazyConnect,
    // With the check, the client never reports the end of a connection that the cluster's state
    // refuses, and BullMQ waits for that report without end. Without it, commands are refused.
    enableReadyCheck: false,
    // Keeps the name, because the certificate is for the name. Connecting resolves it.
    dnsLookup: (host, found) => found(null, host),
    redisOptions: { ...ofNodes, ...access },
  });
}

/** Returns the options of a connection that asks Sentinels where the primary is, each time that it connects. */
export function throughSentinels(address: RedisAddress, options: RedisOptions): RedisOptions {
  const { nodes, tls, ...access } = nodesOf(address);
  return {
    ...options,
    ...access,
    sentinels: nodes,
    name: address.redisSentinel!,
    ...(options.retryStrategy && { sentinelRetryStrategy: options.retryStrategy }),
    connectTimeout: options.connectTimeout ?? CONNECT_TIMEOUT_MS,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    // Sentinels know no users of Redis.
    ...(access.password && { sentinelPassword: access.password }),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

/** Returns TLS for a `rediss:` address, with the private CA if there is one. */
export function tlsOf({ redisUrl, redisCa }: RedisAddress): Pick<RedisOptions, 'tls'> {
  if (!redisUrl?.startsWith('rediss:')) return {};
  return { tls: redisCa ? { ca: redisCa } : {} };
}

function nodesOf(address: RedisAddress) {
  const [scheme = '', rest = ''] = address.redisUrl!.split('://', 2);
  const urls = address.redisUrl!.split(',').map((node) => {
    const text = node.trim();
    return new URL(text.includes('://') ? text : `${scheme}://${text}`);
  });
  const { username, password } = new URL(`${scheme}://${rest.split(',')[0]}`);
  return {
    nodes: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.+)\]$/, '$1'),
      port: Number(port || DEFAULT_PORT),
    })),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...tlsOf(address),
  };
}

/**
 * Opens a connection for questions that may go unanswered. While Redis is away, or slower than
 * `answerTimeoutMs`, a command fails at once. On a cluster, the caller must notice slowness.
 */
export function openImpatientRedis(
  address: string | RedisAddress,
  answerTimeoutMs: number,
  logger: Logger,
): RedisClient {
  const reached: RedisAddress = typeof address === 'string' ? { redisUrl: address } : address;
  const client = openRedis(reached, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    // The limit also counts when a cluster's client asks its nodes who has what, which is slower.
    commandTimeout: reached.redisCluster ? CONNECT_TIMEOUT_MS : answerTimeoutMs,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    ...RECONNECTING,
  });
  client.on('error', (error) => logger.warn('redis error', { error: error.message }));
  return client;
}

/**
 * Connects once, asks, and disconnects.
 * @throws Error of the connection, which says more than the error of the command that waited
 */
export async function askRedis<Answer>(
  address: RedisAddress,
  answerTimeoutMs: number,
  ask: (client: RedisClient) => Promise<Answer>,
  options: RedisOptions = {},
): Promise<Answer> {
  const client = openRedis(address, {
    lazyConnect: true,
    connectTimeout: answerTimeoutMs,
    commandTimeout: answerTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    ...options,
  });
  let lastError: unknown;
  client.on('error', (error) => {
    lastError = error;
  });
  try {
    await client.connect();
    await client.ping();
    return await ask(client);
  } catch (error) {
    // For a cluster, the client says that no node will do, and keeps what the last node said.
    throw (lastError as { lastNodeError?: unknown })?.lastNodeError ?? lastError ?? error;
  } finally {
    client.disconnect();
  }
}

/** The troubles of something that a process works with, in lines. */
export interface Condition {
  /** Why jobs would be lost, or run nowhere. Null: they are not. */
  problem: string | null;
  /** Troubles that do not stop the work, but should be mended. */
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
    condition = await waitAtMost(redisCondition(address), PROBE_TIMEOUT_MS, 'no answer').catch(
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
