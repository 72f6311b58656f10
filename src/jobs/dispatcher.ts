import { type Database, rows } from '../database.ts';
import type { Queues, StepJob } from './queues.ts';

/** Rows that one round takes out of the outbox. */
const BATCH_SIZE = 500;
/** How long a dispatcher that dies keeps its batch from the others. Longer than adding can take. */
const LEASE_MS = 15_000;

/**
 * Moves one batch from the outbox to the queues: lease, add, delete. No transaction is
 * open while the queue is called. What dies in between is added again when the lease ends,
 * under the same job ids, which is harmless.
 * @returns how many jobs were added.
 */
export async function dispatchOutbox(database: Database, queues: Queues): Promise<number> {
  const leased = await leaseBatch(database);
  const byQueue = groupByQueue(leased);
  const results = await Promise.allSettled(
    [...byQueue].map(async ([queue, jobs]) => {
      await queues.add(queue, jobs);
      await deleteRows(
        database,
        jobs.map((job) => job.outboxId),
      );
      return jobs.length;
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) {
    await releaseLeases(database, leased);
    throw failed.reason;
  }
  return leased.length;
}

type OutboxJob = StepJob & { outboxId: number };

async function leaseBatch(database: Database): Promise<OutboxJob[]> {
  return rows<OutboxJob>(
    database,
    `UPDATE outbox SET leased_until = now() + :lease_ms * interval '1 millisecond'
     WHERE id IN (
       SELECT id FROM outbox WHERE leased_until < now()
       ORDER BY id LIMIT :batch FOR UPDATE SKIP LOCKED
     )
     RETURNING id AS "outboxId", queue, kind, step, merchant_id AS "merchantId",
       row_id AS "rowId", step_no AS "stepNo",
       greatest(0, extract(epoch FROM run_at - now()) * 1000)::float8 AS "delayMs"`,
    { lease_ms: LEASE_MS, batch: BATCH_SIZE },
  );
}

function groupByQueue(jobs: OutboxJob[]): Map<string, OutboxJob[]> {
  const groups = new Map<string, OutboxJob[]>();
  for (const job of jobs) groups.set(job.queue, [...(groups.get(job.queue) ?? []), job]);
  return groups;
}

async function deleteRows(database: Database, ids: number[]): Promise<void> {
  await rows(database, 'DELETE FROM outbox WHERE id = ANY(:ids)', { ids });
}

/** Gives back at once what could not be added; without this the lease would do it later. */
async function releaseLeases(database: Database, jobs: OutboxJob[]): Promise<void> {
  await rows(database, `UPDATE outbox SET leased_until = '-infinity' WHERE id = ANY(:ids)`, {
    ids: jobs.map((job) => job.outboxId),
  });
}
