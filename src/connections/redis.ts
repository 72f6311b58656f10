import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from '../process/logger.ts';

/** Where Redis is and how it is reached; `Config` is one. */
export interface RedisAddress {
  /** Of a cluster several nodes, comma-separated; user and password stand in the first. */
  redisUrl?: string | undefined;
  /** Certificates as PEM text that the server's own must be signed by. */
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
 * When a connection is made anew: after it was lost, longer from try to try; and when its
 * server has become a replica, for the address may lead to another one by now.
 */
export const RECONNECTING = {
  retryStrategy: (tries: number) => Math.min(tries * 100, MAX_RECONNECT_DELAY_MS),
  // Up to version 6 a script's error stands behind the script's own name.
  reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
} satisfies RedisOptions;

/** A client of the one Redis, or of all nodes of the cluster. */
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
    // A connection that is refused for the cluster's state is never reported as over, and
    // BullMQ waits for that report for ever. Without the check, commands are refused instead.
    enableReadyCheck: false,
    // The name stays the name, for the certificate is for it; connecting looks it up.
    dnsLookup: (host, found) => found(null, host),
    redisOptions: { ...ofNodes, ...access },
  });
}

/** TLS for a `rediss:` address, with the private CA if there is one. */
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
 * A connection for questions that may go unanswered: while Redis is away, or slower than
 * `answerTimeoutMs`, a command fails at once instead of waiting; on a cluster slowness is
 * the caller's to notice.
 */
export function openImpatientRedis(
  address: string | RedisAddress,
  answerTimeoutMs: number,
  logger: Logger,
): RedisClient {
  const reached: RedisAddress = typeof address === 'string' ? { redisUrl: address } : address;
  const client = openRedis(reached, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A cluster's client asks its nodes who has what under the same limit, and that takes longer.
    commandTimeout: reached.redisCluster ? CONNECT_TIMEOUT_MS : answerTimeoutMs,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    ...RECONNECTING,
  });
  client.on('error', (error) => logger.warn('redis error', { error: error.message }));
  return client;
}
