import {
  assertSchemaCompatibility,
  Queue,
  type QueueOptions,
  runMigrations,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { connectionAdvice, POSTGRES_SETTINGS } from '../connections/connection-advice.ts';
import { queuePoolMax } from '../connections/connection-budget.ts';
import { connectionSettings, type DatabaseAddress } from '../connections/database-address.ts';
import { messageOf } from '../connections/database-errors.ts';
import { ALL_TYPES, type JobData, workerTypeOf } from './job-types.ts';
import { PacedWorker, workerOptions } from './paced-worker.ts';
import type { QueueBackend } from './queue-backend.ts';
import { sharingFactory } from './shared-connection.ts';

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
