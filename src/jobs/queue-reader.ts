import type { Queue } from 'bullmq';
import { messageOf } from '../connections/database-errors.ts';
import type { Logger } from '../process/logger.ts';
import { MINUTE_MS } from '../time.ts';
import type { QueueBackend } from './backend.ts';
import { type JobData, jobId } from './job-types.ts';
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

/** A step, and the queue that its job belongs in. */
type QueuedStep = Pick<JobData, 'kind' | 'row_id' | 'step_no'> & { queue: string };

export type QueueReader = ReturnType<typeof openQueueReader>;

/** Queues that take longer count as away. */
const READ_TIMEOUT_MS = 3_000;

/**
 * Reads the queues for people and metrics. No decision rests on it. Opens a queue when it is first
 * read. Its connections stay open, and come back after an outage. All but `ask` and `close` throw
 * when the backend does not answer in time.
 * @param logger hears of a queue's errors. Without it they are only a part of the answer.
 * @param given are open queues, which it does not close.
 */
export function openQueueReader(
  backend: QueueBackend,
  logger?: Pick<Logger, 'debug'>,
  given?: QueuePool,
) {
  const note = (event: string, queue: string, { message }: Error) =>
    logger?.debug(event, { queue, error: message });
  const queues =
    given ?? openQueuePool(backend, (queue, error) => note('queue error', queue, error));
  const orNull = (queue: string) => (error: Error) => {
    note('queue does not tell', queue, error);
    return null;
  };
  let haveAnswered = false;
  return {
    backendName: backend.name,
    /** Asks for nothing optional. */
    check: async (queue: string) => {
      await answerOf(queue, queues.of(queue).getJobCounts('waiting'), READ_TIMEOUT_MS);
    },
    read: (queue: string) =>
      answerOf(queue, readState(backend, queues.of(queue), orNull(queue)), READ_TIMEOUT_MS),
    /** Returns `waiting`, `delayed` or `active`; null when the queue has no job for the step. */
    stateOf: async (step: QueuedStep) => {
      const asked = queues.of(step.queue).getJobState(jobId(step));
      const state = await answerOf(step.queue, asked, READ_TIMEOUT_MS);
      return state === 'unknown' ? null : state;
    },
    /**
     * Runs questions to the queues. As long as the queues have not answered, it first finds out
     * whether they can be used.
     * @returns why not all questions were answered, in one line, or null
     */
    ask: async (questions: () => Promise<void>): Promise<string | null> => {
      const problem = haveAnswered ? null : await backend.problem();
      if (problem) return problem;
      try {
        await questions();
        haveAnswered = true;
        return null;
      } catch (error) {
        haveAnswered = false;
        return `The queues do not answer: ${messageOf(error)}`;
      }
    },
    close: async () => {
      if (!given) await queues.close();
    },
  };
}

/** @param orNull answers an optional question that failed. */
async function readState(
  backend: QueueBackend,
  queue: Queue<JobData>,
  orNull: (error: Error) => null,
): Promise<QueueState> {
  const [counts, isPaused, [oldest], workers, endedLastMinute] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed'),
    queue.isPaused(),
    queue.getJobs(['waiting'], 0, 0, true),
    backend.countWorkers(queue).catch(orNull),
    backend.name === 'redis' ? readEndedLastMinute(queue).catch(orNull) : null,
  ]);
  return {
    queue: queue.name,
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

export interface FoundJobs {
  /** The state of each step's job, in the order of the steps. Null: its queue does not have it. */
  states: (string | null)[];
  /** Why the queues did not tell, in one line. Then there are no states. */
  problem: string | null;
}

/** Looks for the jobs of a few steps. Waits some seconds at most for queues that are away. */
export async function findJobs(backend: QueueBackend, steps: QueuedStep[]): Promise<FoundJobs> {
  if (steps.length === 0) return { states: [], problem: null };
  const reader = openQueueReader(backend);
  const states: FoundJobs['states'] = [];
  const problem = await reader.ask(async () => {
    for (const step of steps) states.push(await reader.stateOf(step));
  });
  await reader.close();
  return problem === null ? { states, problem } : { states: [], problem };
}

/**
 * Removes every job from these queues, also jobs under way. No work is lost: our own tables
 * say what is due, and the sweeper sends it again.
 * @returns how many jobs each queue had
 */
export async function emptyQueues(
  backend: QueueBackend,
  names: readonly string[],
): Promise<{ queue: string; jobs: number }[]> {
  let lastError: Error | undefined;
  const queues = openQueuePool(backend, (_, error) => {
    lastError = error;
  });
  const emptied = [];
  try {
    for (const name of names) {
      const queue = queues.of(name);
      await queue.waitUntilReady();
      const counts = await queue.getJobCounts();
      // Pauses the queue first, and removes that with all else.
      await queue.obliterate({ force: true });
      const jobs = Object.values(counts).reduce((sum, count) => sum + count, 0);
      emptied.push({ queue: name, jobs });
    }
    return emptied;
  } catch (error) {
    throw lastError ?? error;
  } finally {
    await queues.close();
  }
}
