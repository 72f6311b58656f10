import type { Job, Queue, Worker } from 'bullmq';
import type { JobData } from './job-types.ts';

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
