import { type Database, rows } from '../connections/database.ts';
import type { Queues, StepJob } from './queues.ts';

/** Rows that one round takes out of the outbox. */
const BATCH_SIZE = 500;
/** Longer than adding can take. After it, others take over the batch of a dead dispatcher. */
const LEASE_MS = 15_000;
/** The rest of a queue that failed, so that the other queues go on. */
const REST_MS = 5_000;
/** A queue that took longer to fail held up the others. Its rest doubles each time in a row. */
const HELD_UP_MS = 1_000;
/** Less than the minute after which an idle dispatcher counts as stuck. */
const MAX_REST_MS = 30_000;

/** Queues that failed: the end of each rest (in ms since 1970), and its length. */
export type RestingQueues = Map<string, { until: number; restMs: number }>;

/**
 * Moves one batch from the outbox to the queues: lease, add, delete. No transaction is open
 * while a queue is called. After a crash in between, the batch is added again when the lease
 * ends, under the same job ids, which is harmless. A queue that fails rests; its rows stay.
 * @returns how many jobs were added
 * @throws the failure of a queue, after the other queues were served
 */
export async function dispatchOutbox(
  database: Database,
  queues: Queues,
  resting: RestingQueues = new Map(),
): Promise<number> {
  const now = Date.now();
  const skipped = [...resting].filter(([, { until }]) => until > now).map(([queue]) => queue);
  const byQueue = groupByQueue(await leaseBatch(database, skipped));
  const results = await Promise.allSettled(
    [...byQueue].map(([queue, jobs]) => addJobs(database, queues, queue, jobs, resting)),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return [...byQueue.values()].reduce((sum, jobs) => sum + jobs.length, 0);
}

type OutboxJob = StepJob & { outbox_id: number };

async function addJobs(
  database: Database,
  queues: Queues,
  queue: string,
  jobs: OutboxJob[],
  resting: RestingQueues,
): Promise<void> {
  const taken = { ids: jobs.map((job) => job.outbox_id) };
  const begun = performance.now();
  try {
    await queues.add(queue, jobs);
    resting.delete(queue);
  } catch (error) {
    const restMs = restAfter(performance.now() - begun, resting.get(queue)?.restMs);
    resting.set(queue, { until: Date.now() + restMs, restMs });
    // Gives the rows back at once. Otherwise they wait for the end of the lease.
    await rows(
      database,
      `UPDATE outbox SET leased_until = '-infinity' WHERE id = ANY(:ids)`,
      taken,
    );
    throw error;
  }
  await rows(database, 'DELETE FROM outbox WHERE id = ANY(:ids)', taken);
}

/** A queue that fails at once holds up nobody, and is tried again soon. */
function restAfter(tookMs: number, lastRestMs?: number): number {
  if (tookMs < HELD_UP_MS || lastRestMs === undefined) return REST_MS;
  return Math.min(lastRestMs * 2, MAX_REST_MS);
}

async function leaseBatch(database: Database, skipped: string[]): Promise<OutboxJob[]> {
  return rows<OutboxJob>(
    database,
    `UPDATE outbox SET leased_until = now() + :lease_ms * interval '1 millisecond'
     WHERE id IN (
       SELECT id FROM outbox WHERE leased_until < now() AND queue <> ALL(:skipped)
       ORDER BY id LIMIT :batch FOR UPDATE SKIP LOCKED
     )
     RETURNING id AS outbox_id, queue, kind, step, merchant_id, row_id, step_no,
       greatest(0, extract(epoch FROM run_at - now()) * 1000)::float8 AS delay_ms`,
    { lease_ms: LEASE_MS, batch: BATCH_SIZE, skipped },
  );
}

function groupByQueue(jobs: OutboxJob[]): Map<string, OutboxJob[]> {
  const groups = new Map<string, OutboxJob[]>();
  for (const job of jobs) {
    const group = groups.get(job.queue) ?? [];
    groups.set(job.queue, group);
    group.push(job);
  }
  return groups;
}
