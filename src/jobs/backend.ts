import type { Job, Queue, Worker } from 'bullmq';
import type { DatabaseAddress } from '../connections/address.ts';
import type { Database } from '../connections/database.ts';
import { installationId } from '../connections/migrations.ts';
import type { RedisAddress } from '../connections/redis.ts';
import type { JobData } from './job-types.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';

/** Where queues are. In Redis, which installations may share, their keys begin with the id. */
export type QueueAddress = DatabaseAddress &
  ({ redisUrl?: undefined } | (RedisAddress & { installationId: string }));

/**
 * Returns the backend of the settings. Only this function knows which one it is. Connects to
 * nothing before a queue or worker is created. Other processes see `processName`: the worker
 * types, joined by plus signs, or `ALL_TYPES`.
 */
export function createQueueBackend(address: QueueAddress, processName = 'other'): QueueBackend {
  return address.redisUrl === undefined
    ? postgresBackend(address, processName)
    : redisBackend(address, address.installationId);
}

/** Returns the backend of the installation that this database belongs to. */
export async function queueBackendOf(
  { config, database }: { config: RedisAddress & DatabaseAddress; database: Database },
  processName?: string,
): Promise<QueueBackend> {
  const address = { ...config, installationId: await installationId(database) };
  return createQueueBackend(address as QueueAddress, processName);
}

/**
 * The store in which jobs wait: Redis when `REDIS_URL` is set, PostgreSQL otherwise. Either
 * may lose everything at any moment: our own tables say what is due.
 */
export interface QueueBackend {
  readonly name: 'redis' | 'postgres';
  createQueue(name: string): Queue<JobData>;
  createWorker(
    name: string,
    process: (job: Job<JobData>, token?: string) => Promise<void>,
    options: { concurrency: number; lockMs: number },
  ): Worker<JobData>;
  /** Counts the processes that are connected to take jobs from a queue. */
  countWorkers(queue: Queue<JobData>): Promise<number>;
  /** Brings the backend's own tables up to date, as part of the release step. */
  migrate(): Promise<void>;
  /** Returns one line that says why the backend cannot be used, or null when it can. */
  problem(): Promise<string | null>;
  /** Returns one line about what should be mended, or null. @param names are the queues in use. */
  warning(names: readonly string[]): Promise<string | null>;
}
