import { type Database, firstRow, rows } from '../connections/database.ts';
import { type JobData, queueOfRow, STEP_TABLES, type StepKind } from './job-types.ts';
import { isDueUnsent } from './sweeper.ts';

/** What PostgreSQL knows of jobs: whatever the queues say or have lost, this is so. */

/** Where somebody counts for people, more than this is only said to be more. */
export const COUNT_MAX = 10_000;
/** Rows of each kind that are named. */
const SAMPLE_SIZE = 20;

/** Jobs of one queue that the dispatcher has yet to add. */
export interface OutboxLag {
  queue: string;
  count: number;
  /** For how long the first of them has been due; 0 when all are for later. */
  oldestDueMs: number;
}

/** What waits in the outbox, by queue. */
export function readOutboxLag(database: Database): Promise<OutboxLag[]> {
  return rows<OutboxLag>(
    database,
    `SELECT queue, count(*) AS count, ${msSince('min(run_at)')} AS "oldestDueMs"
     FROM outbox GROUP BY queue ORDER BY queue`,
  );
}

/** A step with the queue that its job belongs in, and since when it is due. */
export interface DueStep extends JobData {
  queue: string;
  dueMs: number;
}

/** Rows of one kind whose step is due, and whose job should be in a queue. */
export interface DueSteps {
  kind: StepKind;
  /** At most `COUNT_MAX`. */
  count: number;
  oldestDueMs: number;
  /** Those that are due the longest. */
  sample: DueStep[];
}

/**
 * The rows whose step has been due for longer than `graceMs` and is not in the outbox, by
 * kind. Their jobs wait in a queue, are under way, or are lost: only the queue can tell. The
 * sweeper sends all of these again.
 */
export async function readDueSteps(database: Database, graceMs: number): Promise<DueSteps[]> {
  const kinds = Object.keys(STEP_TABLES) as StepKind[];
  const read = await Promise.all(kinds.map((kind) => readDueOfKind(database, kind, graceMs)));
  return read.filter((due) => due !== null);
}

async function readDueOfKind(
  database: Database,
  kind: StepKind,
  graceMs: number,
): Promise<DueSteps | null> {
  const { table, id } = STEP_TABLES[kind];
  const found = await rows<DueStep & { count: number }>(
    database,
    `SELECT due.*, count(*) OVER () AS count FROM (
       SELECT ${queueOfRow(kind)} AS queue, t.next_step AS step, t.merchant_id,
         t.${id} AS row_id, t.step_no, ${msSince('t.next_step_at')} AS "dueMs"
       FROM ${table} t WHERE ${isDueUnsent(kind)}
       ORDER BY t.next_step_at LIMIT :max
     ) AS due ORDER BY "dueMs" DESC LIMIT :sample`,
    { grace_ms: graceMs, max: COUNT_MAX, sample: SAMPLE_SIZE },
  );
  const [oldest] = found;
  if (!oldest) return null;
  const sample = found.map(({ count: _, ...step }) => ({ ...step, kind }));
  return { kind, count: oldest.count, oldestDueMs: oldest.dueMs, sample };
}

/** Whether a row still has this step, due and unsent as it was. */
export async function isStillDue(
  database: Database,
  { kind, merchant_id: merchantId, row_id: rowId, step_no: stepNo }: JobData,
  graceMs: number,
): Promise<boolean> {
  const { table, id } = STEP_TABLES[kind];
  const row = await firstRow(
    database,
    `SELECT 1 FROM ${table} t WHERE t.merchant_id = :merchant_id AND t.${id} = :row_id
       AND t.step_no = :step_no AND ${isDueUnsent(kind)}`,
    { merchant_id: merchantId, row_id: rowId, step_no: stepNo, grace_ms: graceMs },
  );
  return row !== undefined;
}

/** Webhook deliveries that are due and have no place among those under way yet. */
export interface WaitingDeliveries {
  /** At most `COUNT_MAX`. */
  count: number;
  oldestDueMs: number;
}

/** The deliveries that wait for a place: their endpoints are slow, or nobody admits them. */
export async function readWaitingDeliveries(database: Database): Promise<WaitingDeliveries> {
  const row = await firstRow<WaitingDeliveries>(
    database,
    `SELECT count(*) AS count, ${msSince('min(next_step_at)')} AS "oldestDueMs"
     FROM (
       SELECT next_step_at FROM webhook_deliveries
       WHERE next_step IS NOT NULL AND admitted_at IS NULL AND next_step_at <= now()
       ORDER BY next_step_at LIMIT :max
     ) AS due`,
    { max: COUNT_MAX },
  );
  return row!;
}

/** Which process does what only one does at a time. */
export interface Lease {
  name: string;
  holder: string;
  heldUntil: Date;
  /** Whether it is in force; otherwise its holder is gone, and nobody has taken its place. */
  isHeld: boolean;
}

export function readLeases(database: Database): Promise<Lease[]> {
  return rows<Lease>(
    database,
    `SELECT name, holder, held_until AS "heldUntil", held_until > now() AS "isHeld"
     FROM leases ORDER BY name`,
  );
}

function msSince(moment: string): string {
  return `greatest(0, extract(epoch FROM now() - ${moment}) * 1000)::float8`;
}
