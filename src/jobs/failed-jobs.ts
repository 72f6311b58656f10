import { type Database, inTransaction, rows, type Transaction } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { JOB_FAILED, type JobData, STEP_TABLES, type StepKind } from './job-types.ts';
import { changeStep } from './outbox.ts';

const MAX_ERROR_LENGTH = 1_000;
const MAX_STACK_LENGTH = 4_000;

/**
 * Ends a job for good, however many tries the queue has left: each try was a job of its own. Keeps
 * the stack of the bug.
 */
export class LastTryError extends Error {
  constructor(bug: unknown) {
    super(messageOf(bug), { cause: bug });
    this.name = 'LastTryError';
    this.stack = (bug as Error).stack ?? '';
  }
}

/**
 * Records a job that has failed for good, and parks its row: the row stands on the support
 * list with the reason until somebody replays it. Leaves a row alone that has moved on.
 */
export async function recordFailedJob(
  database: Database,
  queue: string,
  data: JobData,
  error: unknown,
): Promise<void> {
  const message = storable(messageOf(error), MAX_ERROR_LENGTH);
  const { stack } = error as Error;
  await inTransaction(database, async (trx) => {
    const parked = await changeStep(
      trx,
      { kind: data.kind, merchant_id: data.merchant_id, id: data.row_id },
      { park: `${JOB_FAILED}${message}` },
      {
        onlyIf: { step_no: data.step_no },
        // A parked delivery must not count as admitted: others need its room.
        set: data.kind === 'webhook' ? { admitted_at: null } : {},
      },
    );
    if (!parked) return;
    await rows(
      trx,
      `INSERT INTO failed_jobs
         (queue, kind, step, merchant_id, row_id, step_no, channel, error, stack)
       VALUES (:queue, :kind, :step, :merchant_id, :row_id, :step_no, ${channelOf(data.kind)},
         :error, :stack)
       ON CONFLICT DO NOTHING`,
      {
        ...data,
        queue,
        error: message,
        stack: stack === undefined ? null : storable(stack, MAX_STACK_LENGTH),
      },
    );
  });
}

/** The tables of rows that are about a payment, and are none. */
const MESSAGES: Partial<Record<StepKind, string>> = { callback: 'callbacks', webhook: 'events' };

/** SQL: the channel of the payment of a row. Looked up now, since many jobs are listed by it later. */
function channelOf(kind: StepKind): string {
  const ofRow = (table: string) =>
    `SELECT channel FROM ${table} WHERE merchant_id = :merchant_id AND id = :row_id`;
  const messages = MESSAGES[kind];
  if (!messages) return `(${ofRow(STEP_TABLES[kind].table)})`;
  const payments = (Object.keys(STEP_TABLES) as StepKind[]).filter((each) => !MESSAGES[each]);
  const channels = payments.map(
    (each) => `WHEN '${each}' THEN (SELECT channel FROM ${STEP_TABLES[each].table} p
      WHERE p.merchant_id = m.merchant_id AND p.id = m.payment_id)`,
  );
  return `(SELECT CASE m.payment_kind ${channels.join(' ')} END
    FROM ${messages} m WHERE m.merchant_id = :merchant_id AND m.id = :row_id)`;
}

/** Replaces what PostgreSQL refuses in a text: a row that could not be parked would run for ever. */
function storable(text: string, maxLength: number): string {
  return text.replaceAll('\u0000', '\uFFFD').slice(0, maxLength);
}

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
