import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from '../process/logger.ts';

/** Address of Redis, and how to reach it. `Config` is one. */
export interface RedisAddress {
  /** A cluster has several nodes, comma-separated. The first has user and password. */
  redisUrl?: string | undefined;
  /** Certificates as PEM text that must have signed the server's own. */
  redisCa?: string | undefined;
  redisCluster?: boolean;
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
  if (!address.redisCluster) {
    return new Redis(address.redisUrl!, { ...options, ...tlsOf(address) });
  }
  const { retryStrategy, enableOfflineQueue = true, lazyConnect = false, ...ofNodes } = options;
  const { nodes, ...access } = clusterNodes(address);
  return new Cluster(nodes, {
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

/** Returns TLS for a `rediss:` address, with the private CA if there is one. */
export function tlsOf({ redisUrl, redisCa }: RedisAddress): Pick<RedisOptions, 'tls'> {
  if (!redisUrl?.startsWith('rediss:')) return {};
  return { tls: redisCa ? { ca: redisCa } : {} };
}

function clusterNodes(address: RedisAddress) {
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
