import type { Database } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import type { Logger } from '../process/logger.ts';
import {
  type DueStep,
  isStillDue,
  readDueSteps,
  readLeases,
  readOutboxLag,
  readWaitingDeliveries,
} from './consistency.ts';
import { jobId } from './job-types.ts';
import { SWEEPER_LEASE } from './lease.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openQueueStates, type QueueState, type QueueStates } from './queue-states.ts';

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
 * queues: what they do not answer is null, and the rest is there all the same.
 */
export async function readQueueStatus(
  service: { database: Database; logger: Logger },
  backend: QueueBackend,
  { queues, failed, graceMs }: StatusOptions,
) {
  const { database } = service;
  const [outbox, due, deliveries, leases] = await Promise.all([
    readOutboxLag(database),
    readDueSteps(database, graceMs),
    readWaitingDeliveries(database),
    readLeases(database),
  ]);
  const names = [...new Set([...queues, ...[...outbox, ...failed].map(({ queue }) => queue)])];
  const steps = due.flatMap(({ sample }) => sample);
  const { states, lost, problem } = await askQueues(service, backend, names, { steps, graceMs });
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
    queues_in: backend.name,
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

interface Answers {
  /** By the name of the queue. A queue that did not answer is missing. */
  states: Map<string, QueueState>;
  /** The steps whose queue has no job for them. */
  lost: Set<DueStep>;
  /** Why not all queues answered, in one line. */
  problem: string | null;
}

/** Asks one queue after the other, so that queues in PostgreSQL take few connections. */
async function askQueues(
  { database, logger }: { database: Database; logger: Logger },
  backend: QueueBackend,
  names: string[],
  { steps, graceMs }: { steps: DueStep[]; graceMs: number },
): Promise<Answers> {
  const answers: Answers = { states: new Map(), lost: new Set(), problem: null };
  answers.problem = await backend.problem();
  if (answers.problem) return answers;
  // An error of a queue is a problem of the answer, not a line of the log.
  const quiet = { debug: () => logger };
  for (const name of names) {
    const states = openQueueStates(backend, quiet);
    try {
      answers.states.set(name, await states.read(name));
      for (const step of steps.filter(({ queue }) => queue === name)) {
        if (await isLost(database, states, step, graceMs)) answers.lost.add(step);
      }
    } catch (error) {
      return { ...answers, problem: `The queues do not answer: ${messageOf(error)}` };
    } finally {
      await states.close();
    }
  }
  return answers;
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
