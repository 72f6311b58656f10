import type { Queue } from 'bullmq';
import type { Logger } from '../process/logger.ts';
import { type JobData, queuesOf, WORKER_TYPES } from './job-types.ts';
import type { QueueBackend } from './queue-backend.ts';
import { answerOf, openQueuePool, type QueuePool } from './queues.ts';

/** The state of a queue at one moment, as its backend tells it. Not the truth about money. */
export interface QueueState {
  queue: string;
  /** Jobs that are due and that no worker has taken. The backend tells none of a paused queue. */
  waiting: number;
  active: number;
  delayed: number;
  /** Somebody has paused the queue itself: no worker takes anything from it. */
  isPaused: boolean;
  /** The time since the first waiting job was due; null when none waits. */
  oldestWaitingMs: number | null;
  /** Processes that are connected to take jobs; null when the backend does not tell us. */
  workers: number | null;
  /**
   * Jobs that ended in the last whole minute, by the clock of the workers. Null when the
   * backend does not tell us, and in PostgreSQL, where counting would cost a write per job.
   */
  endedLastMinute: number | null;
}

export type QueueStates = ReturnType<typeof openQueueStates>;

/** Queues that take longer count as away. */
const READ_TIMEOUT_MS = 3_000;

/** Returns every queue that workers serve with these gateways. */
export function allQueues(gateways: string[]): string[] {
  return WORKER_TYPES.flatMap((type) => queuesOf(type, gateways));
}

/**
 * Reads the queues for people and metrics. No decision rests on it. Opens nothing until a queue
 * is read. Closes the queues unless they are given. All but `close` throw when the backend does
 * not answer in time.
 */
export function openQueueStates(
  backend: QueueBackend,
  logger: Pick<Logger, 'debug'>,
  given?: QueuePool,
) {
  const onError = (queue: string, error: Error) =>
    logger.debug('queue error', { queue, error: error.message });
  const queues = given ?? openQueuePool(backend, onError);
  return {
    /** Asks for nothing optional. */
    check: async (queue: string) => {
      await answerOf(queue, queues.of(queue).getJobCounts('waiting'), READ_TIMEOUT_MS);
    },
    read: (queue: string) =>
      answerOf(queue, readState(backend, queues.of(queue), queue, logger), READ_TIMEOUT_MS),
    /** Returns whether a job waits, is delayed or under way. */
    has: async (queue: string, id: string) =>
      (await answerOf(queue, queues.of(queue).getJob(id), READ_TIMEOUT_MS)) !== undefined,
    /** Returns `waiting`, `delayed` or `active`; null when the queue has no such job. */
    stateOf: async (queue: string, id: string) => {
      const state = await answerOf(queue, queues.of(queue).getJobState(id), READ_TIMEOUT_MS);
      return state === 'unknown' ? null : state;
    },
    close: async () => {
      if (!given) await queues.close();
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
 * Reads a counter of ended jobs. The first job of a later minute closes a counter: until
 * then, its open part is the last minute in which a job ended.
 */
export function inLastMinute(
  { meta, data }: Pick<Awaited<ReturnType<Queue['getMetrics']>>, 'meta' | 'data'>,
  now = Date.now(),
): number {
  const minutesAgo = Math.floor(now / MINUTE_MS) - Math.floor(meta.prevTS / MINUTE_MS);
  if (minutesAgo === 0) return data[0] ?? 0;
  return minutesAgo === 1 ? meta.count - meta.prevCount : 0;
}
