import { type Database, hasRow, type Transaction } from '../connections/database.ts';
import { STEP_TABLES, type StepKind, type StepName } from './job-types.ts';

/** When the next work of a loop becomes due, as far as its last round has seen. */
export interface NextDue {
  /** In ms from then. Null: none is known. */
  inMs: number | null;
}

/** SQL: the time until a moment, in ms. Below zero it has passed. */
export function msUntil(moment: string): string {
  return `CAST(extract(epoch FROM ${moment} - now()) * 1000 AS float8)`;
}

/** A row that steps drive. */
interface StepRef {
  kind: StepKind;
  merchant_id: number;
  id: string;
}

/**
 * A change of a row's next step: another step after a delay; `park`, which puts the row on
 * the support list; or `none`, because the row has ended. A step without a queue gets its job from
 * the dispatcher later: a delivery when it is admitted, a question when it is due.
 */
export type StepChange =
  | { next: StepName; queue: string | null; delayMs: number }
  | { park: string }
  | 'none';

/**
 * Returns the CTE `queued`, which puts the next steps of the rows of the CTE `moved` into the
 * outbox. No other SQL adds rows to the outbox.
 * @param queue is SQL for the queue's name: a binding, or `queueOfRow`.
 * @param condition is SQL: only the rows that fit it are queued.
 */
export function queued(kind: StepKind, queue = ':queue', condition = ''): string {
  return `queued AS (
    INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
    SELECT ${queue}, '${kind}', next_step, merchant_id, ${STEP_TABLES[kind].id}, step_no,
      next_step_at
    FROM moved ${condition && `WHERE ${condition}`}
  )`;
}

/**
 * Returns SQL that changes a row's step and queues its job: `assignments` is for the SET list of
 * an UPDATE … RETURNING called `moved`, and `queued` are the CTEs after it. The row gets a new
 * number, so its earlier job is stale.
 * @param delayMs is SQL for the delay, where it differs from row to row
 */
export function stepSql(kind: StepKind, change: StepChange, delayMs = ':delay_ms') {
  const next = change !== 'none' && 'next' in change ? change : null;
  const reason = change !== 'none' && 'park' in change ? change.park : null;
  return {
    assignments: `step_no = step_no + 1, step_swept_at = NULL,
      ${next ? nextIn(delayMs) : 'next_step = NULL, next_step_at = NULL'},
      parked_reason = ${reason === null ? 'NULL' : ':parked_reason'}`,
    queued: next?.queue ? [queued(kind, ':outbox_queue')] : [],
    bindings: {
      ...(next && { step: next.next, delay_ms: next.delayMs }),
      ...(reason !== null && { parked_reason: reason }),
      ...(next?.queue && { outbox_queue: next.queue }),
    },
  };
}

function nextIn(delayMs: string): string {
  return `next_step = :step, next_step_at = now() + ${delayMs} * interval '1 millisecond'`;
}

/**
 * Changes a row's step, and columns with it, and queues the step's job, in one statement:
 * neither can happen without the other.
 * @returns whether the row was there, in the state that `onlyIf` asks for.
 */
export async function changeStep(
  database: Database | Transaction,
  ref: StepRef,
  change: StepChange,
  options: {
    set?: Record<string, unknown>;
    /** A further assignment in SQL, which may use the values of `set` as `:set_…`. */
    assign?: string;
    onlyIf?: Record<string, unknown>;
    /** A further CTE, which reads the changed row from the CTE `moved`, and its bindings. */
    also?: { cte: string; bindings: object };
  } = {},
): Promise<boolean> {
  const { table, id } = STEP_TABLES[ref.kind];
  const step = stepSql(ref.kind, change);
  const set = Object.keys(options.set ?? {}).map((name) => `, ${name} = :set_${name}`);
  const assign = options.assign ? `, ${options.assign}` : '';
  const onlyIf = Object.keys(options.onlyIf ?? {}).map((name) => ` AND ${name} = :if_${name}`);
  const moved = `moved AS (
      UPDATE ${table} SET ${step.assignments}${set.join('')}${assign}
      WHERE merchant_id = :merchant_id AND ${id} = :id${onlyIf.join('')}
      RETURNING *
    )`;
  const ctes = [moved, ...step.queued, ...(options.also ? [options.also.cte] : [])];
  return hasRow(database, `WITH ${ctes.join(', ')} SELECT FROM moved`, {
    ...options.also?.bindings,
    ...ref,
    ...step.bindings,
    ...prefixed('set_', options.set),
    ...prefixed('if_', options.onlyIf),
  });
}

/** Returns values under names that cannot collide with a statement's other bindings. */
export function prefixed(prefix: string, values: Record<string, unknown> = {}): object {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${prefix}${name}`, value]),
  );
}
