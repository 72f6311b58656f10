import { type Database, firstRow, type Transaction } from '../connections/database.ts';
import { STEP_TABLES, type StepKind, type StepName } from './job-types.ts';

/** A row that steps drive. */
export interface StepRef {
  kind: StepKind;
  merchant_id: number;
  id: string;
}

/**
 * What becomes of a row's next step: another one after a delay; parked, which puts the row
 * on the support list; or none, because the row has ended. A step without a queue gets no
 * job yet: somebody admits it when it is due and there is room.
 */
export type StepChange =
  | { next: StepName; queue: string | null; delayMs: number }
  | { park: string }
  | 'none';

/** Later steps stay in Postgres until the sweeper finds them due: queues hold the near future only. */
const OUTBOX_HORIZON_MS = 3_600_000;

/**
 * The part of an UPDATE's SET list that changes the step. Every change takes a new number,
 * which makes whatever job was under way for the old one stale.
 */
export function stepAssignments(change: StepChange): { sql: string; bindings: object } {
  const common = 'step_no = step_no + 1, step_swept_at = NULL';
  if (change === 'none') {
    return {
      sql: `${common}, next_step = NULL, next_step_at = NULL, parked_reason = NULL`,
      bindings: {},
    };
  }
  if ('park' in change) {
    return {
      sql: `${common}, next_step = NULL, next_step_at = NULL, parked_reason = :parked_reason`,
      bindings: { parked_reason: change.park },
    };
  }
  return {
    sql: `${common}, next_step = :step, parked_reason = NULL,
      next_step_at = now() + :delay_ms * interval '1 millisecond'`,
    bindings: { step: change.next, delay_ms: change.delayMs },
  };
}

/** The statement that puts the step of the rows in the CTE `moved` into the outbox. */
export function outboxInsert(
  kind: StepKind,
  change: StepChange,
): { sql: string; bindings: object } {
  const { id } = STEP_TABLES[kind];
  const queue = change !== 'none' && 'next' in change ? change.queue : null;
  return {
    sql: `INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
      SELECT CAST(:outbox_queue AS text), :outbox_kind, next_step, merchant_id, ${id}, step_no,
        next_step_at
      FROM moved
      WHERE CAST(:outbox_queue AS text) IS NOT NULL
        AND next_step_at <= now() + :outbox_horizon_ms * interval '1 millisecond'`,
    bindings: {
      outbox_queue: queue,
      outbox_kind: kind,
      outbox_horizon_ms: OUTBOX_HORIZON_MS,
    },
  };
}

/**
 * Changes a row's step, and columns with it, and puts the step's job into the outbox: one
 * statement, so one cannot happen without the other.
 * @returns whether the row was there, in the state that `onlyIf` asks for.
 */
export async function changeStep(
  database: Database | Transaction,
  ref: StepRef,
  change: StepChange,
  options: { set?: Record<string, unknown>; onlyIf?: Record<string, unknown> } = {},
): Promise<boolean> {
  const { table, id } = STEP_TABLES[ref.kind];
  const step = stepAssignments(change);
  const outbox = outboxInsert(ref.kind, change);
  const set = Object.keys(options.set ?? {}).map((name) => `, ${name} = :set_${name}`);
  const onlyIf = Object.keys(options.onlyIf ?? {}).map((name) => ` AND ${name} = :if_${name}`);
  const row = await firstRow<{ moved: number }>(
    database,
    `WITH moved AS (
       UPDATE ${table} SET ${step.sql}${set.join('')}
       WHERE merchant_id = :merchant_id AND ${id} = :id${onlyIf.join('')}
       RETURNING *
     ), queued AS (${outbox.sql})
     SELECT count(*) AS moved FROM moved`,
    {
      merchant_id: ref.merchant_id,
      id: ref.id,
      ...step.bindings,
      ...outbox.bindings,
      ...prefixed('set_', options.set),
      ...prefixed('if_', options.onlyIf),
    },
  );
  return row?.moved === 1;
}

/** Binding names that cannot collide with a statement's own. */
export function prefixed(prefix: string, values: Record<string, unknown> = {}): object {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]),
  );
}
