import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { JOB_FAILED, STEP_TABLES, type StepKind } from '../../jobs/job-types.ts';

/** Rows of each kind that are counted: a count that stands there says "at least so many". */
const MAX_COUNTED = 100_000;

/**
 * How many failed jobs of each queue wait for somebody: those that a list shows as `waiting`.
 * Queues without any are left out.
 */
export function countWaitingJobs(
  database: Database | Transaction,
): Promise<{ queue: string; count: number }[]> {
  return rows(
    database,
    `SELECT queue, count(*) AS count FROM (${WAITING}) AS waiting GROUP BY queue ORDER BY queue`,
    { most: MAX_COUNTED },
  );
}

/** What the index of the parked rows of each kind is in the order of. */
const PARKED_ORDER: Readonly<Record<StepKind, string>> = {
  collection: 'created_at',
  payout: 'created_at',
  reversal: 'created_at',
  return: 'created_at',
  callback: 'received_at',
  webhook: 'event_id',
};

/**
 * Goes from the rows that are parked to the failed job that each of them is parked for, which
 * is its newest: of the failed jobs that nobody has replayed most may have moved on, and to
 * read past those would take the longer the less there is to count. The number of the row's
 * step says nothing: news of a payment gives it the next number while it stays parked.
 * Ordered, so that no plan can think of reading the whole table instead of the index.
 */
const WAITING = (Object.keys(STEP_TABLES) as StepKind[])
  .map((kind) => {
    const { table, id } = STEP_TABLES[kind];
    return `
      SELECT newest.queue FROM (
        SELECT merchant_id, ${id} AS row_id FROM ${table}
        WHERE parked_reason IS NOT NULL AND starts_with(parked_reason, '${JOB_FAILED}')
        ORDER BY ${PARKED_ORDER[kind]} LIMIT :most
      ) parked CROSS JOIN LATERAL (
        SELECT queue, replayed_at FROM failed_jobs f
        WHERE f.merchant_id = parked.merchant_id AND f.kind = '${kind}'
          AND f.row_id = parked.row_id
        ORDER BY step_no DESC LIMIT 1
      ) newest
      WHERE newest.replayed_at IS NULL`;
  })
  .join(' UNION ALL ');
