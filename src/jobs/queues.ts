import type { Queue } from 'bullmq';
import type { Logger } from '../process/logger.ts';
import { waitAtMost } from '../time.ts';
import type { QueueBackend } from './backend.ts';
import { type JobData, jobId } from './job-types.ts';

/** A step on its way to a worker. */
export interface StepJob extends JobData {
  queue: string;
  delay_ms: number;
}

export type QueuePool = ReturnType<typeof openQueuePool>;

/** The producing side of the queues. Only the dispatcher has one. */
export interface Queues {
  /**
   * Adds the jobs of one queue. A queue keeps a job that it knows as it is, so adding twice
   * is harmless. A call that throws may have added a part: add them all again.
   */
  add(queue: string, jobs: StepJob[]): Promise<void>;
  /** Counts the jobs that are due and that no worker has taken. It tells none of a paused queue. */
  countWaiting(queue: string): Promise<number>;
  close(): Promise<void>;
}

/** A job that throws has failed for good after this many runs. */
export const JOB_TRIES = 5;
const BACKOFF_MS = 1_000;
/** A queue that hangs, or has never been reached, must not hold up the others. */
const ADD_TIMEOUT_MS = 8_000;

export function openQueues(backend: QueueBackend, logger: Logger): Queues & QueuePool {
  const pool = openQueuePool(backend, (queue, error) =>
    logger.warn('queue error', { queue, error: error.message }),
  );
  return {
    ...pool,
    add: async (name, jobs) => {
      await answerOf(name, pool.of(name).addBulk(jobs.map(bulkJob)), ADD_TIMEOUT_MS);
    },
    countWaiting: (name) => answerOf(name, pool.of(name).getWaitingCount(), ADD_TIMEOUT_MS),
  };
}

/** Holds the queues of a process. Opens each when it is first used. */
export function openQueuePool(
  backend: QueueBackend,
  onError: (queue: string, error: Error) => void,
) {
  const open = new Map<string, Queue<JobData>>();
  return {
    of: (name: string) => {
      const known = open.get(name);
      if (known) return known;
      const queue = backend.createQueue(name);
      queue.on('error', (error) => onError(name, error));
      open.set(name, queue);
      return queue;
    },
    close: async () => {
      await Promise.allSettled([...open.values()].map((queue) => queue.close()));
    },
  };
}

/** @throws when the queue has not answered within `timeoutMs` */
export function answerOf<Result>(
  queue: string,
  answer: Promise<Result>,
  timeoutMs: number,
): Promise<Result> {
  return waitAtMost(answer, timeoutMs, `The queue ${queue} does not answer`);
}

function bulkJob({ kind, step, merchant_id, row_id, step_no, delay_ms }: StepJob) {
  const data: JobData = { kind, step, merchant_id, row_id, step_no };
  return {
    name: `${kind}.${step}`,
    data,
    opts: {
      jobId: jobId(data),
      delay: Math.max(0, Math.round(delay_ms)),
      attempts: JOB_TRIES,
      backoff: { type: 'exponential', delay: BACKOFF_MS },
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}
