import {
  assertSchemaCompatibility,
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  Queue,
  type QueueOptions,
  runMigrations,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { messageOf } from '../database.ts';
import { connectionAdvice, POSTGRES_SETTINGS } from '../stores/connection-advice.ts';
import { QUEUE_POOL_MAX } from '../stores/connection-budget.ts';
import { connectionSettings, type DatabaseAddress } from '../stores/database-address.ts';
import type { QueueBackend } from './backend.ts';
import { ALL_TYPES, type JobData, workerTypeOf } from './job-types.ts';
import { workerOptions } from './worker-options.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** A PostgreSQL that says nothing for so long is gone, even if its connection still stands. */
const QUERY_TIMEOUT_MS = 20_000;

/** The connection that listens is called so, and then by what its process runs. */
const LISTENER_PREFIX = 'malipo-listener-';

/**
 * Queues in PostgreSQL. All of one backend share a few connections and one that listens,
 * which is named after the process: that is how others know who works.
 */
export function postgresBackend(address: DatabaseAddress, processName: string): QueueBackend {
  const settings = {
    ...connectionSettings(address),
    application_name: 'malipo-queues',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  const connection = { ...settings, max: QUEUE_POOL_MAX, ...LIVELINESS };
  const factory = sharingFactory(connection, LISTENER_PREFIX + processName) as never;
  return {
    name: 'postgres',
    createQueue: (name) =>
      new Queue(name, { connection } as QueueOptions, factory) as Queue<JobData>,
    createWorker: (name, process, options) =>
      new Worker(
        name,
        process as never,
        { connection, ...workerOptions(options) } as WorkerOptions,
        factory,
      ) as Worker<JobData>,
    countWorkers: async (queue) => {
      const lines = (await queue.getBackend().getClientList()).join('\n').split('\n');
      return lines.filter((line) => runs(line.split(LISTENER_PREFIX)[1], queue.name)).length;
    },
    migrate: () => withClient(settings, (client) => runMigrations(client as never)),
    problem: async () => {
      try {
        await withClient(settings, (client) => assertSchemaCompatibility(client as never));
        return null;
      } catch (error) {
        const missing = (error as Error).name === 'SchemaMigrationRequiredError';
        return missing
          ? 'The queue tables are missing: run `npm run migrate` first'
          : `DATABASE_URL cannot be used for the queues: ${connectionAdvice(error, POSTGRES_SETTINGS) ?? messageOf(error)}`;
      }
    },
  };
}

/** Whether a process that is called so takes jobs from a queue. */
function runs(processName: string | undefined, queue: string): boolean {
  if (processName === undefined) return false;
  return processName === ALL_TYPES || processName.split('+').includes(workerTypeOf(queue) ?? '');
}

const LIVELINESS = { query_timeout: QUERY_TIMEOUT_MS, keepAlive: true };

/** Hands the same connection to every queue and worker, for as long as there is one. */
function sharingFactory(
  options: PostgresConnectionOptions,
  listenerName: string,
): BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> {
  let shared: SharedConnection | undefined;
  return (name, queueOptions, { withBlockingConnection = false } = {}) => {
    if (!shared || shared.isClosing) shared = new SharedConnection(options);
    shared.users += 1;
    const named = withBlockingConnection ? listenerName : undefined;
    return new PostgresQueueBackend(shared, name, queueOptions, true, named);
  };
}

/**
 * BullMQ's connection, made for one queue, used by all of a process. Every statement takes
 * one connection and no statement waits for another one's, so a few serve any number.
 */
class SharedConnection extends PostgresConnection {
  /** Each closes it once; the last one really does. */
  users = 0;
  #listener: unknown;

  constructor(options: PostgresConnectionOptions) {
    super(options);
    this.setMaxListeners(0);
  }

  /** Unlike BullMQ's own, it forgets a failure: a queue first used in an outage works after it. */
  override async waitUntilReady(): Promise<void> {
    try {
      await super.waitUntilReady();
    } catch (error) {
      (this as unknown as { readyPromise: undefined }).readyPromise = undefined;
      throw error;
    }
  }

  /** Workers tell from the notification whether it is for their queue. */
  override async getListenClient() {
    const client = await super.getListenClient();
    if (client !== this.#listener) {
      this.#listener = client;
      (client as unknown as NodeJS.EventEmitter).setMaxListeners(0);
      takeTurns(client);
    }
    return client;
  }

  override async close(): Promise<void> {
    this.users -= 1;
    if (this.users <= 0) await super.close();
  }
}

/** Each statement waits for the one before, as a client with one user does by itself. */
function takeTurns(client: { query: (...args: never[]) => Promise<unknown> }): void {
  const query = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  client.query = (...args) => {
    last = last.catch(() => {}).then(() => query(...args));
    return last;
  };
}

async function withClient(
  settings: pg.ClientConfig,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(settings);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
