import type { Queue } from 'bullmq';
import type { Logger } from '../process/logger.ts';
import type { QueueBackend } from './backend.ts';
import type { JobData } from './job-types.ts';
import { queuesOf, WORKER_TYPES } from './job-types.ts';
import { answerOf } from './queues.ts';

/** What a queue looks like at one moment, as its backend tells. Not the truth about money. */
export interface QueueState {
  queue: string;
  /** Jobs that are due and that no worker has taken; of a paused queue the backend tells none. */
  waiting: number;
  active: number;
  delayed: number;
  /** Somebody has stopped the queue itself; no worker takes anything from it. */
  isPaused: boolean;
  /** For how long the first of the waiting jobs has been due; null when none waits. */
  oldestWaitingMs: number | null;
  /** Processes that are connected to take jobs from it; null when the backend does not tell us. */
  workers: number | null;
  /**
   * Jobs that ended in the last whole minute, by the clock of the workers; null when the backend
   * does not tell us, and in PostgreSQL, where counting them would cost every job a write.
   */
  endedLastMinute: number | null;
}

/** The reading side of the queues: for whoever watches, never for what must be right. */
export interface QueueStates {
  /** Whether the backend answers at all. @throws like `read`, but asks for nothing optional */
  check(queue: string): Promise<void>;
  /** @throws when the backend does not answer within `READ_TIMEOUT_MS` */
  read(queue: string): Promise<QueueState>;
  /** Whether a job waits, is delayed or under way. @throws like `read` */
  has(queue: string, jobId: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Whoever asks would rather hear that the queues are away than wait for them. */
const READ_TIMEOUT_MS = 3_000;

/** Every queue that the workers of this configuration serve. */
export function allQueues(gateways: string[]): string[] {
  return WORKER_TYPES.flatMap((type) => queuesOf(type, gateways));
}

/** Opens nothing until a queue is read. */
export function openQueueStates(backend: QueueBackend, logger: Pick<Logger, 'debug'>): QueueStates {
  const open = new Map<string, Queue<JobData>>();
  const queueOf = (name: string): Queue<JobData> => {
    const known = open.get(name);
    if (known) return known;
    const queue = backend.createQueue(name);
    queue.on('error', (error) =>
      logger.debug('queue error', { queue: name, error: error.message }),
    );
    open.set(name, queue);
    return queue;
  };
  return {
    check: async (name) => {
      await answerOf(name, queueOf(name).getJobCounts('waiting'), READ_TIMEOUT_MS);
    },
    read: (name) =>
      answerOf(name, readState(backend, queueOf(name), name, logger), READ_TIMEOUT_MS),
    has: async (name, id) =>
      (await answerOf(name, queueOf(name).getJob(id), READ_TIMEOUT_MS)) !== undefined,
    close: async () => {
      await Promise.allSettled([...open.values()].map((queue) => queue.close()));
    },
  };
}

async function readState(
  backend: QueueBackend,
  queue: Queue<JobData>,
  name: string,
  logger: Pick<Logger, 'debug'>,
): Promise<QueueState> {
  const optional = (what: Promise<number>) =>
    what.catch((error: Error) => {
      logger.debug('queue does not tell', { queue: name, error: error.message });
      return null;
    });
  const [counts, isPaused, [oldest], workers, endedLastMinute] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed'),
    queue.isPaused(),
    queue.getJobs(['waiting'], 0, 0, true),
    optional(backend.countWorkers(queue)),
    backend.name === 'redis' ? optional(readEndedLastMinute(queue)) : null,
  ]);
  return {
    queue: name,
    waiting: counts.waiting ?? 0,
    active: counts.active ?? 0,
    delayed: counts.delayed ?? 0,
    isPaused,
    oldestWaitingMs: oldest
      ? Math.max(0, Date.now() - oldest.timestamp - (oldest.opts.delay ?? 0))
      : null,
    workers,
    endedLastMinute,
  };
}

async function readEndedLastMinute(queue: Queue<JobData>): Promise<number> {
  const [completed, failed] = await Promise.all([
    queue.getMetrics('completed', 0, 0),
    queue.getMetrics('failed', 0, 0),
  ]);
  return inLastMinute(completed) + inLastMinute(failed);
}

const MINUTE_MS = 60_000;

/**
 * A counter is closed by the first job of a later minute: until then the last minute in
 * which a job ended is its open part.
 */
export function inLastMinute(
  { meta, data }: Pick<Awaited<ReturnType<Queue['getMetrics']>>, 'meta' | 'data'>,
  now = Date.now(),
): number {
  const minutesAgo = Math.floor(now / MINUTE_MS) - Math.floor(meta.prevTS / MINUTE_MS);
  if (minutesAgo === 0) return data[0] ?? 0;
  return minutesAgo === 1 ? meta.count - meta.prevCount : 0;
}
