import { type Database, firstRow } from '../connections/database.ts';
import {
  CALLBACKS_QUEUE,
  pollingQueue,
  REFUNDS_QUEUE,
  returnsQueue,
  reversalsQueue,
  STEP_TABLES,
  type StepKind,
  submissionQueue,
  WEBHOOKS_QUEUE,
} from './job-types.ts';

/** Rows that one statement sends again. */
const SWEEP_BATCH = 1_000;
/**
 * Batches of one kind in one sweep; what is left comes first in the next. Together they are
 * more than workers do until then, and so few that what is new does not wait behind them.
 */
const MAX_BATCHES = 4;

/** The same queues as where the steps are scheduled, said in SQL over the row. */
export const QUEUE_OF_ROW: Readonly<Record<StepKind, string>> = {
  collection: `CASE next_step WHEN 'submit' THEN '${submissionQueue('')}' ELSE '${pollingQueue('')}' END || gateway`,
  payout: `CASE next_step WHEN 'refund' THEN '${REFUNDS_QUEUE}'
    WHEN 'submit' THEN '${submissionQueue('')}' || gateway ELSE '${pollingQueue('')}' || gateway END`,
  reversal: `CASE next_step WHEN 'submit' THEN '${reversalsQueue('')}' ELSE '${pollingQueue('')}' END || gateway`,
  return: `CASE next_step WHEN 'submit' THEN '${returnsQueue('')}' ELSE '${pollingQueue('')}' END || gateway`,
  callback: `'${CALLBACKS_QUEUE}'`,
  webhook: `'${WEBHOOKS_QUEUE}'`,
};

/**
 * Of a row `t` of a kind: its step has been due for longer than `:grace_ms`, and the outbox
 * does not have it. A delivery that is not admitted has no job to lose; it waits for its turn.
 */
export function isDueUnsent(kind: StepKind): string {
  return `t.next_step IS NOT NULL ${kind === 'webhook' ? 'AND t.admitted_at IS NOT NULL' : ''}
    AND t.next_step_at < now() - :grace_ms * interval '1 millisecond'
    AND NOT EXISTS (
      SELECT FROM outbox o WHERE o.row_id = t.${STEP_TABLES[kind].id} AND o.kind = '${kind}')`;
}

/**
 * Sends again, under its old job id, every step that has been due for longer than
 * `graceMs`: its job was lost, or comes from so far ahead that it was never sent. Where
 * the job still exists the queue drops the copy. This is what survives the loss of Redis.
 * @returns how many steps were sent again.
 */
export async function sweep(database: Database, graceMs: number): Promise<number> {
  let swept = 0;
  for (const kind of Object.keys(STEP_TABLES) as StepKind[]) {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const count = await sweepBatch(database, kind, graceMs);
      swept += count;
      if (count < SWEEP_BATCH) break;
    }
  }
  return swept;
}

async function sweepBatch(database: Database, kind: StepKind, graceMs: number): Promise<number> {
  const { table, id } = STEP_TABLES[kind];
  const row = await firstRow<{ swept: number }>(
    database,
    `WITH due AS (
       SELECT merchant_id, ${id} FROM ${table} t
       WHERE ${isDueUnsent(kind)}
         AND (step_swept_at IS NULL OR step_swept_at < now() - :grace_ms * interval '1 millisecond')
       -- Whoever waits for a first sweep comes before those that were swept in vain.
       ORDER BY step_swept_at NULLS FIRST, next_step_at LIMIT :batch FOR UPDATE SKIP LOCKED
     ), swept AS (
       UPDATE ${table} t SET step_swept_at = now() FROM due
       WHERE t.merchant_id = due.merchant_id AND t.${id} = due.${id}
       RETURNING t.*
     ), queued AS (
       INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
       SELECT ${QUEUE_OF_ROW[kind]}, :kind, next_step, merchant_id, ${id}, step_no, next_step_at
       FROM swept
     )
     SELECT count(*) AS swept FROM swept`,
    { kind, grace_ms: graceMs, batch: SWEEP_BATCH },
  );
  return row?.swept ?? 0;
}
