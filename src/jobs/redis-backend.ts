import { type ConnectionOptions, Queue } from 'bullmq';
import type { RedisOptions } from 'ioredis';
import {
  askRedis,
  openRedis,
  RECONNECTING,
  type RedisAddress,
  type RedisClient,
  throughSentinels,
  tlsOf,
  whyUnreachable,
} from '../connections/redis.ts';
import type { QueueBackend } from './backend.ts';
import type { JobData } from './job-types.ts';
import { PacedWorker, workerOptions } from './paced-worker.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** A producer does not wait for a Redis that hangs: the outbox still has the job. */
const COMMAND_TIMEOUT_MS = 5_000;
/** A Redis that is silent for so long is gone, even if its connection still stands. */
const PRODUCER_SILENCE_MS = 6_000;
/** Longer than a worker ever waits for the next job. */
const WORKER_SILENCE_MS = 15_000;
/** About this many entries stay in the queue library's own history, which nobody reads. */
const KEPT_EVENTS = 100;
/** Minutes for which a worker keeps its count of ended jobs. */
const ENDED_MINUTES = 5;

const PRODUCER: RedisOptions = {
  ...RECONNECTING,
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: PRODUCER_SILENCE_MS,
  enableOfflineQueue: false,
};

const CONSUMER: RedisOptions = {
  ...RECONNECTING,
  socketTimeout: WORKER_SILENCE_MS,
  maxRetriesPerRequest: null,
};

/**
 * Keeps queues in Redis, or in a Redis Cluster: there, each queue on one of the nodes. The keys of
 * another installation begin with another id.
 */
export function redisBackend(address: RedisAddress, installationId: string): QueueBackend {
  // The hash tag keeps one queue's keys in one slot of a Redis Cluster.
  const prefixOf = (name: string) => `{malipo-${installationId}-${name}}`;
  return {
    name: 'redis',
    createQueue: (name) => {
      const { connection, closeWith } = connectionFor(address, PRODUCER);
      const streams = { events: { maxLen: KEPT_EVENTS } };
      return closeWith(new Queue<JobData>(name, { connection, prefix: prefixOf(name), streams }));
    },
    createWorker: (name, process, options) => {
      const { connection, closeWith } = connectionFor(address, CONSUMER);
      const settings = {
        connection,
        prefix: prefixOf(name),
        metrics: { maxDataPoints: ENDED_MINUTES },
        ...workerOptions(options),
      };
      return closeWith(new PacedWorker(name, process, settings));
    },
    countWorkers: (queue) => queue.getWorkersCount(),
    migrate: async () => {},
    problem: () => redisProblem(address),
    warning: (names) => formerQueuesWarning(address, names),
  };
}

interface Closing {
  close(force?: boolean): Promise<void>;
}

/**
 * Returns the connection for one queue or worker. BullMQ itself connects to a single Redis.
 * For a cluster it needs a client, which it leaves open: `closeWith` closes the client
 * together with its user.
 */
function connectionFor(address: RedisAddress, options: RedisOptions) {
  if (!address.redisCluster) {
    const connection = address.redisSentinel
      ? throughSentinels(address, options)
      : { url: address.redisUrl!, ...options, ...tlsOf(address) };
    return {
      connection: connection as ConnectionOptions,
      closeWith: <User extends Closing>(user: User) => user,
    };
  }
  const client = openRedis(address, options);
  const closeWith = <User extends Closing>(user: User): User => {
    const close = user.close.bind(user);
    user.close = (force?: boolean) => close(force).finally(() => client.disconnect());
    return user;
  };
  return { connection: client as ConnectionOptions, closeWith };
}

async function redisProblem(address: RedisAddress): Promise<string | null> {
  try {
    return await askRedis(address, CONNECT_TIMEOUT_MS, (client) => clusterProblem(client, address));
  } catch (error) {
    return whyUnreachable(error);
  }
}

/** A node of a cluster can be reached like a single Redis, but refuses keys of other nodes. */
async function clusterProblem(client: RedisClient, address: RedisAddress): Promise<string | null> {
  if (address.redisCluster) return null;
  const info = await client.info('cluster').catch(() => '');
  return info.includes('cluster_enabled:1')
    ? 'REDIS_URL is a node of a Redis Cluster: set REDIS_CLUSTER=true'
    : null;
}

/** Finds queues whose keys have no id of an installation, as before there was one. */
async function formerQueuesWarning(
  address: RedisAddress,
  names: readonly string[],
): Promise<string | null> {
  const hasFormer = (client: RedisClient) =>
    Promise.all(names.map((name) => client.exists(`{malipo-${name}}:${name}:meta`)));
  const found = await askRedis(address, CONNECT_TIMEOUT_MS, hasFormer).catch(() => []);
  const former = names.filter((_, index) => found[index]);
  if (former.length === 0) return null;
  return `Redis has queues of an older Malipo (${former.join(', ')}): if none uses it any more, delete its keys, which begin with {malipo-${former[0]}}`;
}
