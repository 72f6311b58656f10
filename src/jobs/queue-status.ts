import type { Database } from '../connections/database.ts';
import { readDueSteps, readLeases, readOutboxLag, readWaitingDeliveries } from './consistency.ts';
import { SWEEPER_LEASE } from './lease.ts';
import type { QueueWatch } from './queue-watch.ts';

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
