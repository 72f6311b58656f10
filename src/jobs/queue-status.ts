import { type Database, firstRow, hasRow, rows } from '../connections/database.ts';
import { countWaitingJobs } from './failed-jobs.ts';
import { allQueues, type JobData, queueOfRow, STEP_TABLES, type StepKind } from './job-types.ts';
import type { QueueReader, QueueState } from './queue-reader.ts';
import { isDueUnsent, SWEEPER_LEASE } from './sweeper.ts';

export type QueueStatus = Awaited<ReturnType<typeof readQueueStatus>>;

/** The parts of a service that the status is read from. */
interface Watched {
  database: Database;
  gateways: ReadonlyMap<string, unknown>;
  config: { sweepGraceMs: number };
}

/**
 * Compares the queues with PostgreSQL, as one JSON document. PostgreSQL is right, whatever the
 * queues say or have lost. It does not wait long for the queues: a figure that they do not answer
 * is null, and the rest is there.
 */
export async function readQueueStatus(
  { database, gateways, config }: Watched,
  reader: QueueReader,
) {
  const graceMs = config.sweepGraceMs;
  const [outbox, due, deliveries, leases, failed] = await Promise.all([
    readOutboxLag(database),
    readDueSteps(database, graceMs),
    readWaitingDeliveries(database),
    readLeases(database),
    countWaitingJobs(database),
  ]);
  const served = allQueues([...gateways.keys()]);
  // Queues with jobs for nobody are added.
  const names = [...new Set([...served, ...[...outbox, ...failed].map(({ queue }) => queue)])];
  const steps = due.flatMap(({ sample }) => sample);
  const states = new Map<string, QueueState>();
  const lost = new Set<DueStep>();
  const problem = await reader.ask(async () => {
    // One after the other, so that queues in PostgreSQL take few connections.
    for (const name of names) {
      states.set(name, await reader.read(name));
      for (const step of steps.filter(({ queue }) => queue === name)) {
        if (await isLost(database, reader, step, graceMs)) lost.add(step);
      }
    }
  });
  const described = names.map((queue) => {
    const state = states.get(queue);
    const lag = outbox.find((each) => each.queue === queue);
    return {
      queue,
      waiting: state?.waiting ?? null,
      oldest_waiting_ms: state?.oldestWaitingMs ?? null,
      active: state?.active ?? null,
      delayed: state?.delayed ?? null,
      paused: state?.isPaused ?? null,
      workers: state?.workers ?? null,
      ended_last_minute: state?.endedLastMinute ?? null,
      outbox: lag?.count ?? 0,
      outbox_oldest_ms: lag ? Math.round(lag.oldestDueMs) : null,
      failed_waiting: failed.find((each) => each.queue === queue)?.count ?? 0,
    };
  });
  const isDispatcherRunning = leases.some(({ name, isHeld }) => name === SWEEPER_LEASE && isHeld);
  return {
    queues_in: reader.backendName,
    queues: described,
    due: due.map(({ kind, count, oldestDueMs, sample }) => ({
      kind,
      count,
      oldest_ms: Math.round(oldestDueMs),
      sample: sample.map((step) => ({
        id: step.row_id,
        merchant_id: step.merchant_id,
        step: step.step,
        queue: step.queue,
        due_ms: Math.round(step.dueMs),
        lost: problem ? null : lost.has(step),
      })),
    })),
    deliveries_waiting: { count: deliveries.count, oldest_ms: Math.round(deliveries.oldestDueMs) },
    leases: leases.map(({ name, holder, heldUntil, isHeld }) => ({
      name,
      holder,
      held_until: heldUntil.toISOString(),
      held: isHeld,
    })),
    dispatcher_running: isDispatcherRunning,
    problems: [
      problem,
      isDispatcherRunning
        ? null
        : 'No dispatcher is running: nobody renews the lease of the sweeper',
      !problem && lost.size > 0
        ? `Due, and no queue has the job: ${lost.size} of those looked for. A sweeper sends them again`
        : null,
      ...described.map(problemOf),
      unservedOf(described.filter(({ queue }) => served.includes(queue))),
    ].filter((line) => line !== null),
  };
}

interface Served {
  queue: string;
  paused: boolean | null;
  waiting: number | null;
  workers: number | null;
}

function problemOf({ queue, paused, waiting, workers }: Served): string | null {
  if (paused) return `The queue ${queue} is paused: no worker takes anything from it`;
  // Null means not known, which is no problem.
  if (!waiting || workers !== 0) return null;
  return `Jobs wait in the queue ${queue}, and no worker takes them`;
}

/** Names the queues whose next job would wait. */
function unservedOf(queues: Served[]): string | null {
  const names = queues.filter(({ waiting, workers }) => !waiting && workers === 0);
  if (names.length === 0) return null;
  return `No worker takes jobs from the queues ${names.map(({ queue }) => queue).join(', ')}`;
}

/** Asks for the row between two looks into the queue: a job that ends meanwhile is not lost. */
async function isLost(
  database: Database,
  reader: QueueReader,
  step: DueStep,
  graceMs: number,
): Promise<boolean> {
  const hasJob = async () => (await reader.stateOf(step)) !== null;
  return !(await hasJob()) && (await isStillDue(database, step, graceMs)) && !(await hasJob());
}

/** Counts for people stop here. */
export const COUNT_MAX = 10_000;
/** Rows of each kind that are named in full. */
const SAMPLE_SIZE = 20;

/** Jobs that the dispatcher has not added to their queue yet. */
export interface OutboxLag {
  queue: string;
  count: number;
  /** The time since the first was due; 0 when all are for later. */
  oldestDueMs: number;
}

export function readOutboxLag(database: Database): Promise<OutboxLag[]> {
  return rows<OutboxLag>(
    database,
    `SELECT queue, count(*) AS count, ${msSince('min(run_at)')} AS "oldestDueMs"
     FROM outbox GROUP BY queue ORDER BY queue`,
  );
}

/** A step that is due, and the queue that its job belongs in. */
export interface DueStep extends JobData {
  queue: string;
  dueMs: number;
}

/** Rows of one kind whose step is due and whose job should be in a queue. */
export interface DueSteps {
  kind: StepKind;
  /** At most `COUNT_MAX`. */
  count: number;
  oldestDueMs: number;
  /** The rows that have been due longest. */
  sample: DueStep[];
}

/**
 * Reads the rows whose step has been due for longer than `graceMs` and is not in the outbox,
 * by kind. Their jobs wait in a queue, are under way, or are lost: only the queue can tell.
 * The sweeper sends all of them again.
 */
export async function readDueSteps(database: Database, graceMs: number): Promise<DueSteps[]> {
  const kinds = Object.keys(STEP_TABLES) as StepKind[];
  const read = await Promise.all(kinds.map((kind) => readDueOfKind(database, kind, graceMs)));
  return read.filter((due) => due !== null);
}

async function readDueOfKind(database: Database, kind: StepKind, graceMs: number) {
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
    'fresh',
  );
  const [oldest] = found;
  if (!oldest) return null;
  const sample = found.map(({ count: _, ...step }) => ({ ...step, kind }));
  return { kind, count: oldest.count, oldestDueMs: oldest.dueMs, sample };
}

/** Returns whether a row still has this step, and the step is still due and not in the outbox. */
export function isStillDue(database: Database, job: JobData, graceMs: number): Promise<boolean> {
  const { table, id } = STEP_TABLES[job.kind];
  return hasRow(
    database,
    `SELECT 1 FROM ${table} t WHERE t.merchant_id = :merchant_id AND t.${id} = :row_id
       AND t.step_no = :step_no AND ${isDueUnsent(job.kind)}`,
    { ...job, grace_ms: graceMs },
  );
}

/** Webhook deliveries that are due and not admitted yet. */
export interface WaitingDeliveries {
  /** At most `COUNT_MAX`. */
  count: number;
  oldestDueMs: number;
}

/** SQL: the endpoint of a row of `webhook_deliveries` does not work, so that nothing goes to it. */
export const IS_HELD = `EXISTS (SELECT FROM webhook_endpoints p
  WHERE p.merchant_id = webhook_deliveries.merchant_id
    AND p.endpoint = webhook_deliveries.endpoint AND p.breaker = 'open')`;

/**
 * Reads the deliveries that wait: their endpoints are slow, or no dispatcher admits them. Deliveries of
 * endpoints that do not work are left out.
 */
export async function readWaitingDeliveries(database: Database): Promise<WaitingDeliveries> {
  const row = await firstRow<WaitingDeliveries>(
    database,
    `SELECT count(*) AS count, ${msSince('min(next_step_at)')} AS "oldestDueMs"
     FROM (
       SELECT next_step_at FROM webhook_deliveries
       WHERE next_step IS NOT NULL AND admitted_at IS NULL AND next_step_at <= now()
         AND NOT ${IS_HELD}
       ORDER BY next_step_at LIMIT :max
     ) AS due`,
    { max: COUNT_MAX },
  );
  return row!;
}

/** A task that one process does at a time, and which process that is. */
export interface Lease {
  name: string;
  holder: string;
  heldUntil: Date;
  /** False when the holder is gone and nobody has taken its place. */
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
