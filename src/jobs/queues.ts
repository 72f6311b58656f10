import type { Queue } from 'bullmq';
import { inTime } from '../connections/in-time.ts';
import type { Logger } from '../process/logger.ts';
import type { QueueBackend } from './backend.ts';
import { type JobData, jobId } from './job-types.ts';

/** A step on its way to a worker. */
export interface StepJob extends JobData {
  queue: string;
  delay_ms: number;
}

/** The producing side of the queues. Only the dispatcher has one. */
export interface Queues {
  /**
   * Adds the jobs of one queue. A job that is known is left as it is, so adding twice is
   * harmless. May add a part and throw: add them all again.
   */
  add(queue: string, jobs: StepJob[]): Promise<void>;
  close(): Promise<void>;
}

/** The same, and the queues themselves, for whoever looks at them. */
export interface OpenQueues extends Queues {
  of(queue: string): Queue<JobData>;
}

/** How often a job that throws is run before it counts as failed for good. */
export const JOB_TRIES = 5;
/**
 * From so many jobs on they are added to PostgreSQL in bulk. That makes two temporary
 * tables at each call, which costs as much as some 30 jobs one by one.
 */
const POSTGRES_BULK_FROM = 20;
const BACKOFF_MS = 1_000;
/** A queue that hangs, or has never been reached, must not hold up the others. */
const ADD_TIMEOUT_MS = 8_000;

export function openQueues(backend: QueueBackend, logger: Logger): OpenQueues {
  const open = new Map<string, Queue<JobData>>();
  const queueOf = (name: string): Queue<JobData> => {
    let queue = open.get(name);
    if (!queue) {
      queue = backend.createQueue(name);
      queue.on('error', (error) =>
        logger.warn('queue error', { queue: name, error: error.message }),
      );
      open.set(name, queue);
    }
    return queue;
  };
  return {
    of: queueOf,
    add: async (name, jobs) => {
      const queue = queueOf(name);
      const bulk = jobs.map(bulkJob);
      const isSmall = backend.name === 'postgres' && bulk.length < POSTGRES_BULK_FROM;
      const added = isSmall ? addSingly(queue, bulk) : queue.addBulk(bulk);
      await answerOf(name, added, ADD_TIMEOUT_MS);
    },
    close: async () => {
      await Promise.all([...open.values()].map((queue) => queue.close()));
    },
  };
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

function addSingly(queue: Queue<JobData>, jobs: ReturnType<typeof bulkJob>[]): Promise<unknown> {
  return Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)));
}

/** Waits for a queue's answer. @throws Error when it has not come within `timeoutMs` */
export function answerOf<Result>(
  queue: string,
  answer: Promise<Result>,
  timeoutMs: number,
): Promise<Result> {
  return inTime(answer, timeoutMs, `The queue ${queue} does not answer`);
}
