import type { Queue } from 'bullmq';
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
      await inTime(isSmall ? addSingly(queue, bulk) : queue.addBulk(bulk), name, ADD_TIMEOUT_MS);
    },
    close: async () => {
      await Promise.all([...open.values()].map((queue) => queue.close()));
    },
  };
}

function bulkJob({
  kind,
  step,
  merchant_id: merchantId,
  row_id: rowId,
  step_no: stepNo,
  delay_ms: delayMs,
}: StepJob) {
  const data: JobData = { kind, step, merchant_id: merchantId, row_id: rowId, step_no: stepNo };
  return {
    name: `${kind}.${step}`,
    data,
    opts: {
      jobId: jobId(data),
      delay: Math.max(0, Math.round(delayMs)),
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

/** @throws when the queue has not answered within `timeoutMs`; what it says later is ignored. */
export async function inTime<Result>(
  work: Promise<Result>,
  queue: string,
  timeoutMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`The queue ${queue} does not answer`);
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
