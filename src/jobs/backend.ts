import {
  assertSchemaCompatibility,
  createPostgresBackend,
  type Job,
  Queue,
  type QueueOptions,
  runMigrations,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import { messageOf } from '../database.ts';
import type { JobData } from './job-types.ts';

/**
 * Where jobs wait. Redis when `REDIS_URL` is set, PostgreSQL otherwise; this file alone
 * knows which. Both may lose everything at any moment: what is due is in our own tables.
 */
export interface QueueBackend {
  readonly name: 'redis' | 'postgres';
  createQueue(name: string): Queue<JobData>;
  createWorker(
    name: string,
    process: (job: Job<JobData>, token?: string) => Promise<void>,
    options: { concurrency: number; lockMs: number },
  ): Worker<JobData>;
  /** Brings the backend's own tables up to date; part of the release step. */
  migrate(): Promise<void>;
  /** One line that says why the backend cannot be used, or null when it can. */
  problem(): Promise<string | null>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A producer does not wait for a Redis that hangs: the outbox still has the job. */
const COMMAND_TIMEOUT_MS = 5_000;
/** A Redis that says nothing for so long is gone, even if its connection still stands. */
const PRODUCER_SILENCE_MS = 6_000;
/** Longer than a worker ever waits for the next job. */
const WORKER_SILENCE_MS = 15_000;
/** The same for the queues in PostgreSQL. */
const QUERY_TIMEOUT_MS = 20_000;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** Per queue or worker, besides the one connection that it listens on. */
const POSTGRES_POOL_MAX = 2;
/** How long an idle worker on Redis sleeps before it looks again, if no sign reaches it. */
const IDLE_LOOK_S = 2;
/** A worker that dies has not failed its job. Only a job that kills every worker it meets gets this far. */
const MAX_STALLED = 100;

export function createQueueBackend(config: {
  redisUrl?: string | undefined;
  databaseUrl: string;
}): QueueBackend {
  return config.redisUrl ? redisBackend(config.redisUrl) : postgresBackend(config.databaseUrl);
}

function workerOptions(options: { concurrency: number; lockMs: number }) {
  return {
    concurrency: options.concurrency,
    lockDuration: options.lockMs,
    stalledInterval: options.lockMs,
    maxStalledCount: MAX_STALLED,
    drainDelay: IDLE_LOOK_S,
  } satisfies Partial<WorkerOptions>;
}

function redisBackend(url: string): QueueBackend {
  const reconnect = {
    retryStrategy: (tries: number) => Math.min(tries * 100, MAX_RECONNECT_DELAY_MS),
  };
  // The hash tag keeps one queue's keys in one slot of a Redis Cluster.
  const prefixOf = (name: string) => `{malipo-${name}}`;
  return {
    name: 'redis',
    createQueue: (name) =>
      new Queue<JobData>(name, {
        connection: {
          url,
          ...reconnect,
          connectTimeout: CONNECT_TIMEOUT_MS,
          commandTimeout: COMMAND_TIMEOUT_MS,
          socketTimeout: PRODUCER_SILENCE_MS,
          enableOfflineQueue: false,
        },
        prefix: prefixOf(name),
      }),
    createWorker: (name, process, options) =>
      new Worker<JobData>(name, process, {
        connection: {
          url,
          ...reconnect,
          socketTimeout: WORKER_SILENCE_MS,
          maxRetriesPerRequest: null,
        },
        prefix: prefixOf(name),
        ...workerOptions(options),
      }),
    migrate: async () => {},
    problem: () => redisProblem(url),
  };
}

async function redisProblem(url: string): Promise<string | null> {
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  };
  const client = new Redis(url, options);
  let lastError: unknown;
  client.on('error', (error) => {
    lastError = error;
  });
  try {
    await client.connect();
    await client.ping();
    return null;
  } catch (error) {
    return `REDIS_URL cannot be used: ${messageOf(lastError ?? error)}`;
  } finally {
    client.disconnect();
  }
}

function postgresBackend(databaseUrl: string): QueueBackend {
  const connection = {
    connectionString: databaseUrl,
    max: POSTGRES_POOL_MAX,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  };
  const withClient = async (work: (client: pg.Client) => Promise<unknown>) => {
    const client = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    try {
      await client.connect();
      await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  };
  return {
    name: 'postgres',
    createQueue: (name) =>
      new Queue(
        name,
        { connection } as QueueOptions,
        createPostgresBackend as never,
      ) as Queue<JobData>,
    createWorker: (name, process, options) =>
      new Worker(
        name,
        process as never,
        { connection, ...workerOptions(options) } as WorkerOptions,
        createPostgresBackend as never,
      ) as Worker<JobData>,
    migrate: () => withClient((client) => runMigrations(client as never)),
    problem: async () => {
      try {
        await withClient((client) => assertSchemaCompatibility(client as never));
        return null;
      } catch (error) {
        const missing = (error as Error).name === 'SchemaMigrationRequiredError';
        return missing
          ? 'The queue tables are missing: run `npm run migrate` first'
          : `DATABASE_URL cannot be used for the queues: ${messageOf(error)}`;
      }
    },
  };
}
