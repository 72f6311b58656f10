import { type Database, firstRow } from '../connections/database.ts';
import { queueOfRow, STEP_TABLES, type StepKind } from './job-types.ts';
import { queued } from './outbox.ts';

/** Each dispatcher renews this lease, or takes it over, in every round of its sweeper. */
export const SWEEPER_LEASE = 'sweeper';

/** Rows that one statement sends again. */
const SWEEP_BATCH = 1_000;
/**
 * Batches of one kind in one sweep. The next sweep begins with the rest. Four keep the
 * workers busy until then, and new payments do not wait long behind them.
 */
const MAX_BATCHES = 4;

/**
 * Returns a condition on a row `t`: its step has been due for longer than `:grace_ms` and is
 * not in the outbox. A delivery that is not admitted has no job, so it cannot lose one.
 */
export function isDueUnsent(kind: StepKind): string {
  return `t.next_step IS NOT NULL ${kind === 'webhook' ? 'AND t.admitted_at IS NOT NULL' : ''}
    AND t.next_step_at < now() - :grace_ms * interval '1 millisecond'
    AND NOT EXISTS (
      SELECT FROM outbox o WHERE o.row_id = t.${STEP_TABLES[kind].id} AND o.kind = '${kind}')`;
}

/**
 * Sends every step again that has been due for longer than `graceMs`: its job was lost. It has its
 * old job id, so a queue that still has the job drops the copy. After a loss of Redis this brings the jobs back.
 * @returns how many steps it sent again.
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

function sweepBatch(database: Database, kind: StepKind, graceMs: number): Promise<number> {
  const due = `${isDueUnsent(kind)}
    AND (step_swept_at IS NULL OR step_swept_at < now() - :grace_ms * interval '1 millisecond')
    -- Rows that were never swept come before those that were swept in vain.
    ORDER BY step_swept_at NULLS FIRST, next_step_at`;
  return sendBatch(database, kind, due, { grace_ms: graceMs });
}

/**
 * Puts the jobs of a batch of rows `t` into the outbox, under their own ids.
 * @param due is SQL: the condition on the rows, and their order.
 */
export async function sendBatch(
  database: Database,
  kind: StepKind,
  due: string,
  bindings: object = {},
): Promise<number> {
  const { table, id } = STEP_TABLES[kind];
  const row = await firstRow<{ sent: number }>(
    database,
    `WITH due AS (
       SELECT merchant_id, ${id} FROM ${table} t
       WHERE ${due} LIMIT :batch FOR UPDATE SKIP LOCKED
     ), moved AS (
       UPDATE ${table} t SET step_swept_at = now() FROM due
       WHERE t.merchant_id = due.merchant_id AND t.${id} = due.${id}
       RETURNING t.*
     ), ${queued(kind, queueOfRow(kind))}
     SELECT count(*) AS sent FROM moved`,
    { ...bindings, batch: SWEEP_BATCH },
    'fresh',
  );
  return row!.sent;
}
