import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { JOB_FAILED, STEP_TABLES, type StepKind } from '../../jobs/job-types.ts';

/** The count of each kind stops here. A count of this size means "at least". */
const MAX_COUNTED = 100_000;

/** Counts the failed jobs of each queue in state `waiting`. Leaves out queues without any. */
export function countWaitingJobs(
  database: Database | Transaction,
): Promise<{ queue: string; count: number }[]> {
  return rows(
    database,
    `SELECT queue, count(*) AS count FROM (${WAITING}) AS waiting GROUP BY queue ORDER BY queue`,
    { most: MAX_COUNTED },
  );
}

/** The column that the index of a kind's parked rows is sorted by, where it is not `created_at`. */
const PARKED_ORDER: Partial<Record<StepKind, string>> = {
  callback: 'received_at',
  webhook: 'event_id',
};

/**
 * Goes from each parked row to its newest failed job, the one that it is parked for. To start
 * from the failed jobs would be slow: most of them may have moved on. The row's step number
 * does not help, since news of a parked payment changes it. ORDER BY makes the planner use the
 * index of parked rows.
 */
const WAITING = (Object.keys(STEP_TABLES) as StepKind[])
  .map((kind) => {
    const { table, id } = STEP_TABLES[kind];
    return `
      SELECT newest.queue FROM (
        SELECT merchant_id, ${id} AS row_id FROM ${table}
        WHERE parked_reason IS NOT NULL AND starts_with(parked_reason, '${JOB_FAILED}')
        ORDER BY ${PARKED_ORDER[kind] ?? 'created_at'} LIMIT :most
      ) parked CROSS JOIN LATERAL (
        SELECT queue, replayed_at FROM failed_jobs f
        WHERE f.merchant_id = parked.merchant_id AND f.kind = '${kind}'
          AND f.row_id = parked.row_id
        ORDER BY step_no DESC LIMIT 1
      ) newest
      WHERE newest.replayed_at IS NULL`;
  })
  .join(' UNION ALL ');
