import type { Queue } from 'bullmq';
import type { Database } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { SWEEPER_LEASE } from '../connections/locks.ts';
import type { Logger } from '../process/logger.ts';
import { MINUTE_MS } from '../time.ts';
import type { QueueBackend } from './backend.ts';
import {
  type DueStep,
  isStillDue,
  readDueSteps,
  readLeases,
  readOutboxLag,
  readWaitingDeliveries,
} from './consistency.ts';
import { type JobData, jobId, queuesOf, WORKER_TYPES } from './job-types.ts';
import { answerOf, openQueuePool, type QueuePool } from './queues.ts';

/** The state of a queue at one moment, as its backend tells it. Not the truth about money. */
interface QueueState {
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

/** What the queues tell, as far as they answer. */
export interface QueueAnswers {
  /** By the name of the queue. A queue that did not answer is missing. */
  states: Map<string, QueueState>;
  /** The steps whose queue has no job for them. */
  lost: Set<DueStep>;
  /** Why not all queues answered, in one line. */
  problem: string | null;
}

/** Asks the queues now and then. */
export interface QueueWatch {
  backendName: QueueBackend['name'];
  ask(names: string[], wanted: { steps: DueStep[]; graceMs: number }): Promise<QueueAnswers>;
  close(): Promise<void>;
}

/**
 * Asks queues through connections that stay open, and come back by themselves after an outage. As
 * long as the queues have not answered, it first finds out whether they can be used.
 */
export function openQueueWatch(
  { database, logger }: { database: Database; logger: Logger },
  backend: QueueBackend,
): QueueWatch {
  // An error of a queue is a problem of the answer, not a line of the log.
  const states = openQueueStates(backend, { debug: () => logger });
  let haveAnswered = false;
  return {
    backendName: backend.name,
    close: states.close,
    ask: async (names, { steps, graceMs }) => {
      const answers: QueueAnswers = { states: new Map(), lost: new Set(), problem: null };
      if (!haveAnswered) answers.problem = await backend.problem();
      if (answers.problem) return answers;
      try {
        // One after the other, so that queues in PostgreSQL take few connections.
        for (const name of names) {
          answers.states.set(name, await states.read(name));
          for (const step of steps.filter(({ queue }) => queue === name)) {
            if (await isLost(database, states, step, graceMs)) answers.lost.add(step);
          }
        }
        haveAnswered = true;
        return answers;
      } catch (error) {
        haveAnswered = false;
        return { ...answers, problem: `The queues do not answer: ${messageOf(error)}` };
      }
    },
  };
}

/** Asks for the row between two looks into the queue: a job that ends meanwhile is not lost. */
async function isLost(
  database: Database,
  states: QueueStates,
  step: DueStep,
  graceMs: number,
): Promise<boolean> {
  const hasJob = () => states.has(step.queue, jobId(step));
  return !(await hasJob()) && (await isStillDue(database, step, graceMs)) && !(await hasJob());
}

export type QueueStatus = Awaited<ReturnType<typeof readQueueStatus>>;

export interface StatusOptions {
  /** The queues that workers serve. Queues with jobs for nobody are added. */
  queues: string[];
  /** Failed jobs that wait for somebody, by queue. */
  failed: { queue: string; count: number }[];
  /** The sweeper sends a step again that has been due for longer than this. */
  graceMs: number;
}

/**
 * Compares the queues with PostgreSQL, as one JSON document. It does not wait long for the
 * queues: a figure that they do not answer is null, and the rest is there.
 */
export async function readQueueStatus(
  database: Database,
  watch: QueueWatch,
  { queues, failed, graceMs }: StatusOptions,
) {
  const [outbox, due, deliveries, leases] = await Promise.all([
    readOutboxLag(database),
    readDueSteps(database, graceMs),
    readWaitingDeliveries(database),
    readLeases(database),
  ]);
  const names = [...new Set([...queues, ...[...outbox, ...failed].map(({ queue }) => queue)])];
  const steps = due.flatMap(({ sample }) => sample);
  const { states, lost, problem } = await watch.ask(names, { steps, graceMs });
  const described = names.map((queue) => {
    const state = states.get(queue);
    const lag = outbox.find((each) => each.queue === queue);
    return {
      queue,
      waiting: state?.waiting ?? null,
      oldest_waiting_ms: state?.oldestWaitingMs ?? null,
      active: state?.active ?? null,
      delayed: state?.delayed ?? null,
      paused: state?.isPaused ?? null,
      workers: state?.workers ?? null,
      ended_last_minute: state?.endedLastMinute ?? null,
      outbox: lag?.count ?? 0,
      outbox_oldest_ms: lag ? Math.round(lag.oldestDueMs) : null,
      failed_waiting: failed.find((each) => each.queue === queue)?.count ?? 0,
    };
  });
  const isDispatcherRunning = leases.some(({ name, isHeld }) => name === SWEEPER_LEASE && isHeld);
  return {
    queues_in: watch.backendName,
    queues: described,
    due: due.map(({ kind, count, oldestDueMs, sample }) => ({
      kind,
      count,
      oldest_ms: Math.round(oldestDueMs),
      sample: sample.map((step) => ({
        id: step.row_id,
        merchant_id: step.merchant_id,
        step: step.step,
        queue: step.queue,
        due_ms: Math.round(step.dueMs),
        lost: problem ? null : lost.has(step),
      })),
    })),
    deliveries_waiting: { count: deliveries.count, oldest_ms: Math.round(deliveries.oldestDueMs) },
    leases: leases.map(({ name, holder, heldUntil, isHeld }) => ({
      name,
      holder,
      held_until: heldUntil.toISOString(),
      held: isHeld,
    })),
    dispatcher_running: isDispatcherRunning,
    problems: [
      problem,
      isDispatcherRunning
        ? null
        : 'No dispatcher is running: nobody renews the lease of the sweeper',
      !problem && lost.size > 0
        ? `Due, and no queue has the job: ${lost.size} of those looked for. A sweeper sends them again`
        : null,
      ...described.map(problemOf),
    ].filter((line) => line !== null),
  };
}

interface Served {
  queue: string;
  paused: boolean | null;
  waiting: number | null;
  workers: number | null;
}

function problemOf({ queue, paused, waiting, workers }: Served): string | null {
  if (paused) return `The queue ${queue} is paused: no worker takes anything from it`;
  // Null means not known, which is no problem.
  if (!waiting || workers !== 0) return null;
  return `Jobs wait in the queue ${queue}, and no worker takes them`;
}

/** A step, and the queue that its job belongs in. */
type QueuedStep = Pick<JobData, 'kind' | 'row_id' | 'step_no'> & { queue: string };

export interface FoundJobs {
  /** The state of each step's job, in the order of the steps. Null: its queue does not have it. */
  states: (string | null)[];
  /** Why the queues did not tell, in one line. Then there are no states. */
  problem: string | null;
}

/** Looks for the jobs of a few steps. Waits some seconds at most for queues that are away. */
export async function findJobs(backend: QueueBackend, steps: QueuedStep[]): Promise<FoundJobs> {
  if (steps.length === 0) return { states: [], problem: null };
  const problem = await backend.problem();
  if (problem) return { states: [], problem };
  // An error of a queue is a part of the answer, not a line of the log.
  const queues = openQueueStates(backend, { debug: () => undefined as never });
  try {
    const states: FoundJobs['states'] = [];
    for (const step of steps) states.push(await queues.stateOf(step.queue, jobId(step)));
    return { states, problem: null };
  } catch (error) {
    return { states: [], problem: `The queues do not answer: ${messageOf(error)}` };
  } finally {
    await queues.close();
  }
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
  const emptied = [];
  for (const name of names) emptied.push({ queue: name, jobs: await emptyQueue(backend, name) });
  return emptied;
}

async function emptyQueue(backend: QueueBackend, name: string): Promise<number> {
  const queue = backend.createQueue(name);
  let lastError: Error | undefined;
  queue.on('error', (error) => {
    lastError = error;
  });
  try {
    await queue.waitUntilReady();
    const counts = await queue.getJobCounts();
    // Pauses the queue first, and removes that with all else.
    await queue.obliterate({ force: true });
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  } catch (error) {
    throw lastError ?? error;
  } finally {
    await queue.close();
  }
}
