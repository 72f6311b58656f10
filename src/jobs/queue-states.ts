import type { Queue } from 'bullmq';
import type { Logger } from '../logger.ts';
import type { QueueBackend } from './backend.ts';
import type { JobData } from './job-types.ts';
import { queuesOf, WORKER_TYPES } from './job-types.ts';
import { inTime } from './queues.ts';

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
  /** Processes that are connected to take jobs from it. */
  workers: number;
}

/** The reading side of the queues: for whoever watches, never for what must be right. */
export interface QueueStates {
  /** @throws when the backend does not answer within `READ_TIMEOUT_MS` */
  read(queue: string): Promise<QueueState>;
  close(): Promise<void>;
}

/** Whoever asks would rather hear that the queues are away than wait for them. */
const READ_TIMEOUT_MS = 3_000;

/** Every queue that the workers of this configuration serve. */
export function allQueues(gateways: string[]): string[] {
  return WORKER_TYPES.flatMap((type) => queuesOf(type, gateways));
}

/** Opens nothing until a queue is read. */
export function openQueueStates(backend: QueueBackend, logger: Logger): QueueStates {
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
    read: (name) => inTime(readState(queueOf(name), name), name, READ_TIMEOUT_MS),
    close: async () => {
      await Promise.allSettled([...open.values()].map((queue) => queue.close()));
    },
  };
}

async function readState(queue: Queue<JobData>, name: string): Promise<QueueState> {
  const [counts, isPaused, [oldest], workers] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed'),
    queue.isPaused(),
    queue.getJobs(['waiting'], 0, 0, true),
    queue.getWorkersCount(),
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
  };
}
