import {
  assertSchemaCompatibility,
  Queue,
  type QueueOptions,
  runMigrations,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { connectionAdvice, POSTGRES_SETTINGS } from '../connections/connection-advice.ts';
import { QUEUE_POOL_MAX } from '../connections/connection-budget.ts';
import { connectionSettings, type DatabaseAddress } from '../connections/database-address.ts';
import { messageOf } from '../connections/database-errors.ts';
import type { QueueBackend } from './backend.ts';
import { ALL_TYPES, type JobData, workerTypeOf } from './job-types.ts';
import { PacedWorker } from './paced-worker.ts';
import { sharingFactory } from './shared-connection.ts';
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

async function withClient(
  settings: pg.ClientConfig,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(settings);
  // A connection that is lost fails the statement on it, or the next one. An error nobody
  // listens for would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
