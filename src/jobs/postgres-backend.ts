import {
  assertSchemaCompatibility,
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  Queue,
  type QueueOptions,
  runMigrations,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { connectionSettings, type DatabaseAddress } from '../connections/address.ts';
import { queuePoolMax } from '../connections/connection-budget.ts';
import { messageOf } from '../connections/database-errors.ts';
import { connectionAdvice, POSTGRES_SETTINGS } from '../connections/database-warnings.ts';
import type { QueueBackend } from './backend.ts';
import { ALL_TYPES, type JobData, workerTypeOf } from './job-types.ts';
import { PacedWorker, workerOptions } from './paced-worker.ts';

/** Makes all queues and workers share one connection, until the last of them closes it. */
function sharingFactory(
  options: PostgresConnectionOptions,
  listenerName: string,
): BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> {
  let shared: SharedConnection | undefined;
  return (name, queueOptions, { withBlockingConnection = false } = {}) => {
    if (!shared || shared.isClosing) shared = new SharedConnection(options);
    shared.users += 1;
    const named = withBlockingConnection ? listenerName : undefined;
    return new SharingBackend(shared, name, queueOptions, true, named);
  };
}

/** The part of the shared connection that one queue or worker holds. */
class SharingBackend extends PostgresQueueBackend {
  /** Forgets a failure, as the connection does. BullMQ calls this whenever a job ends. */
  override waitUntilReady(): Promise<void> {
    return orForget(this, super.waitUntilReady());
  }

  /**
   * Adds a batch in one statement, as BullMQ adds flows. Its own statement for batches makes
   * temporary tables and a sequence, which the service's role may not.
   * @throws Error when the batch could not be added: then none of it was
   */
  override async addJobs(entries: Parameters<PostgresQueueBackend['addJobs']>[0]) {
    const flow = entries.map(({ job, jobId, parentKeyOpts = {} }) => {
      return { jobData: job, jobId, parentKeyOpts, prefix: '', queueName: this.queueName };
    });
    const added = await this.addFlow(flow);
    // A failure comes as a value, for each job.
    const failed = added.find(([error]) => error !== null);
    if (failed) throw failed[0];
    return added.map(([, id]) => String(id));
  }

  /** Waits until the listener has its name, so that idle workers are seen too. */
  override async waitForJob(timeoutS: number) {
    await this.waitUntilReady();
    return super.waitForJob(timeoutS);
  }
}

/** BullMQ remembers the first answer, even if that is an error. */
async function orForget(owner: object, ready: Promise<void>): Promise<void> {
  await ready.catch((error) => {
    (owner as { readyPromise: undefined }).readyPromise = undefined;
    throw error;
  });
}

/**
 * A BullMQ connection that all queues of a process share. A statement takes one connection
 * of the pool and waits for no other statement, so a few connections serve any number.
 */
class SharedConnection extends PostgresConnection {
  /** Each user closes it once. The last one really does. */
  users = 0;
  #listener: unknown;

  constructor(options: PostgresConnectionOptions) {
    super(options);
    this.setMaxListeners(0);
    // The statement on a lost connection fails. The error itself would end the process while
    // BullMQ checks its tables, since nobody listens for it then.
    (this.pool as unknown as NodeJS.EventEmitter).on('connect', (client) => {
      client.on('error', () => {});
    });
  }

  /** Forgets a failure, so that a queue first used in an outage works after it. */
  override waitUntilReady(): Promise<void> {
    return orForget(this, super.waitUntilReady());
  }

  /** One listener serves all workers: each sees in a notification which queue it is for. */
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

/** Makes each statement wait for the one before, as it would with only one user. */
function takeTurns(client: { query: (...args: never[]) => Promise<unknown> }): void {
  const query = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  client.query = (...args) => {
    last = last.catch(() => {}).then(() => query(...args));
    return last;
  };
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A PostgreSQL that is silent for so long is gone, even if its connection still stands. */
const QUERY_TIMEOUT_MS = 20_000;

/** The name of the connection that listens: this, then the name of its process. */
const LISTENER_PREFIX = 'malipo-listener-';

/**
 * Keeps queues in PostgreSQL. All queues of a backend share a few connections and one that
 * listens. That one is named after the process, so that others see which workers there are.
 */
export function postgresBackend(address: DatabaseAddress, processName: string): QueueBackend {
  const settings = {
    ...connectionSettings(address),
    application_name: 'malipo-queues',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  const connection = { ...settings, max: queuePoolMax(processName), ...LIVELINESS };
  const factory = sharingFactory(connection, LISTENER_PREFIX + processName) as never;
  return {
    name: 'postgres',
    createQueue: (name) =>
      new Queue(name, { connection } as QueueOptions, factory) as Queue<JobData>,
    createWorker: (name, process, options) =>
      new PacedWorker(
        name,
        process as never,
        { connection, ...workerOptions(options) } as WorkerOptions,
        factory,
      ),
    countWorkers: async (queue) => {
      const lines = (await queue.getBackend().getClientList()).join('\n').split('\n');
      return lines.filter((line) => runs(line.split(LISTENER_PREFIX)[1], queue.name)).length;
    },
    migrate: () => withClient(settings, (client) => runMigrations(client as never)),
    warning: async () => null,
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

/** Returns whether a process with this name takes jobs from a queue. */
function runs(processName: string | undefined, queue: string): boolean {
  if (processName === undefined) return false;
  return processName === ALL_TYPES || processName.split('+').includes(workerTypeOf(queue) ?? '');
}

const LIVELINESS = { query_timeout: QUERY_TIMEOUT_MS, keepAlive: true };

async function withClient(
  settings: pg.ClientConfig,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(settings);
  // The statement on a lost connection fails, or the next one. Without a listener the error
  // itself would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
