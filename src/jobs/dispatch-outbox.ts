import { type Database, FEW_ROWS, firstRow, rows } from '../connections/database.ts';
import { STEP_TABLES } from './job-types.ts';
import { msUntil, type NextDue } from './outbox.ts';
import { isCrowded, lookForRoom, MAX_ROOM, type Rooms, roomOf, takeRoom } from './queue-rooms.ts';
import type { Queues, StepJob } from './queues.ts';
import { sendBatch } from './sweeper.ts';

/**
 * Longer than adding takes, unless a queue hangs. After it others add the batch too, which is
 * harmless, and so takes over the batch of a dead dispatcher.
 */
const LEASE_MS = 15_000;
/** The rest of a queue that failed, so that the other queues go on. */
const REST_MS = 5_000;
/** A queue that took longer to fail held up the others. Its rest doubles each time in a row. */
const HELD_UP_MS = 1_000;
/** Less than the minute after which an idle dispatcher counts as stuck. */
const MAX_REST_MS = 30_000;

/** Queues that failed: the end of each rest (in ms since 1970), and its length. */
export type RestingQueues = Map<string, { until: number; restMs: number }>;

/** Ids of outbox rows whose jobs are in the queues. The next round removes them. */
export type AddedRows = number[];

/**
 * Moves one batch from the outbox to the queues: leases it, adds its jobs, and leaves it to the next
 * round to remove it with its own lease. No transaction is open while a queue is called. After a
 * crash in between, the batch is added again when the lease ends, under the same job ids, which is
 * harmless. A queue that fails rests; its rows stay. So do the rows of a queue that is full.
 * @param added are the rows that this round removes, and then those that it has added.
 * @returns how many jobs were added
 * @throws the failure of a queue, after the other queues were served
 */
export async function dispatchOutbox(
  database: Database,
  queues: Queues,
  resting: RestingQueues,
  added: AddedRows,
  rooms: Rooms = new Map(),
): Promise<number> {
  const now = Date.now();
  const failing = [...resting].filter(([, { until }]) => until > now).map(([queue]) => queue);
  const full = await lookForRoom(queues, rooms, failing);
  const before = [...added];
  // After a round that found many rows, more are likely.
  const isBacklog = before.length >= FEW_ROWS || isCrowded(rooms);
  const batch = { added: before, skipped: [...failing, ...full], lease_ms: LEASE_MS };
  const leased = isBacklog
    ? await leaseOfBacklog(database, batch, rooms)
    : await leaseFew(database, batch);
  const byQueue = groupByQueue(leased);
  added.splice(0, before.length);
  const results = await Promise.allSettled(
    [...byQueue].map(async ([queue, jobs]) => {
      await addJobs(database, queues, queue, jobs, resting, added);
      takeRoom(rooms, queue, jobs.length);
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return leased.length;
}

/** Removes outbox rows whose jobs are in the queues. */
export async function removeAdded(database: Database, added: AddedRows): Promise<void> {
  if (added.length > 0)
    await rows(database, 'DELETE FROM outbox WHERE id = ANY(:added)', { added });
}

type OutboxJob = StepJob & { outbox_id: number };

async function addJobs(
  database: Database,
  queues: Queues,
  queue: string,
  jobs: OutboxJob[],
  resting: RestingQueues,
  added: AddedRows,
): Promise<void> {
  const taken = { ids: jobs.map((job) => job.outbox_id) };
  const begun = performance.now();
  try {
    await queues.add(queue, jobs);
    resting.delete(queue);
  } catch (error) {
    const restMs = restAfter(performance.now() - begun, resting.get(queue)?.restMs);
    resting.set(queue, { until: Date.now() + restMs, restMs });
    // Gives the rows back at once. Otherwise they wait for the end of the lease.
    await rows(
      database,
      `UPDATE outbox SET leased_until = '-infinity' WHERE id = ANY(:ids)`,
      taken,
    );
    throw error;
  }
  added.push(...taken.ids);
}

/** A queue that fails at once holds up nobody, and is tried again soon. */
function restAfter(tookMs: number, lastRestMs?: number): number {
  if (tookMs < HELD_UP_MS || lastRestMs === undefined) return REST_MS;
  return Math.min(lastRestMs * 2, MAX_REST_MS);
}

/** The rows that a lease removes, and the queues that it leaves alone. */
interface Batch {
  added: AddedRows;
  skipped: string[];
  lease_ms: number;
}

/** SQL: the row can be leased. */
const IS_FREE = 'leased_until < now() AND id <> ALL(CAST(:added AS bigint[]))';

/**
 * Returns SQL that removes the rows which the round before has added, and leases others.
 * @param ids is SQL for the ids of these
 */
function lease(ids: string): string {
  return `removed AS (DELETE FROM outbox WHERE id = ANY(CAST(:added AS bigint[])))
     UPDATE outbox SET leased_until = now() + :lease_ms * interval '1 millisecond'
     -- An array is read once. With IN, a planner that expects few rows reads the batch for each.
     WHERE id = ANY(ARRAY(${ids}))
     RETURNING id AS outbox_id, queue, kind, step, merchant_id, row_id, step_no,
       greatest(0, extract(epoch FROM run_at - now()) * 1000)::float8 AS delay_ms`;
}

const LEASE_FEW = `WITH ${lease(`
  SELECT id FROM outbox WHERE ${IS_FREE} AND queue <> ALL(:skipped)
  ORDER BY id LIMIT ${FEW_ROWS} FOR UPDATE SKIP LOCKED`)}`;

/** Leases the oldest rows, by a plan that PostgreSQL keeps: mostly there are few. */
function leaseFew(database: Database, batch: Batch): Promise<OutboxJob[]> {
  return rows<OutboxJob>(database, LEASE_FEW, batch, 'kept');
}

/** SQL: half of the rows that a queue has room for, from one end of the backlog. */
const halfOf = (end: 'ASC' | 'DESC') => `ARRAY(SELECT id FROM outbox
    WHERE outbox.queue = q.queue AND ${IS_FREE}
    ORDER BY id ${end} LIMIT (q.room + 1) / 2 FOR UPDATE SKIP LOCKED)`;

const LEASE_OF_BACKLOG = `WITH RECURSIVE names AS (
    (SELECT queue FROM outbox ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT o.queue FROM outbox o WHERE o.queue > names.queue ORDER BY o.queue LIMIT 1)
    FROM names WHERE names.queue IS NOT NULL
  ), ${lease(`
  SELECT half.id
  FROM (SELECT names.queue, coalesce(known.room, :max_room) AS room FROM names
    LEFT JOIN unnest(CAST(:queues AS text[]), CAST(:rooms AS integer[])) AS known (queue, room)
      ON known.queue = names.queue
    WHERE names.queue <> ALL(:skipped)) q,
  LATERAL unnest(${halfOf('ASC')} || ${halfOf('DESC')}) AS half (id)`)}`;

/**
 * Leases as many rows of each queue as it has room for: half of them the newest, so that fresh work does not wait for
 * a backlog, and half the oldest, so that the backlog does not wait for fresh work.
 */
function leaseOfBacklog(database: Database, batch: Batch, rooms: Rooms): Promise<OutboxJob[]> {
  const queues = [...rooms.keys()];
  const known = { queues, rooms: queues.map((queue) => roomOf(rooms, queue)) };
  const bindings = { ...batch, ...known, max_room: MAX_ROOM };
  return rows<OutboxJob>(database, LEASE_OF_BACKLOG, bindings, 'fresh');
}

function groupByQueue(jobs: OutboxJob[]): Map<string, OutboxJob[]> {
  const groups = new Map<string, OutboxJob[]>();
  for (const job of jobs) {
    const group = groups.get(job.queue) ?? [];
    groups.set(job.queue, group);
    group.push(job);
  }
  return groups;
}

/** The kinds of rows that a gateway is asked about. */
const ASKED_KINDS = ['collection', 'payout', 'reversal', 'return'] as const;

/** SQL: a question that has no job. A partial index of each table has these, by their time. */
const PLANNED = "t.next_step = 'poll' AND t.step_swept_at IS NULL";
const DUE = `${PLANNED} AND t.next_step_at <= now() ORDER BY t.next_step_at`;

/** One read, since most rounds find nothing. Ordered, so that only the index is read. */
const FIND = `SELECT ${ASKED_KINDS.map(
  (kind) =>
    `(SELECT ${msUntil('t.next_step_at')} FROM ${STEP_TABLES[kind].table} t WHERE ${PLANNED}
      ORDER BY t.next_step_at LIMIT 1) AS "${kind}"`,
).join(', ')}`;

/**
 * Gives a job to every question that has become due. Nearly always the gateway calls back first,
 * so a question that is only planned has no job. The sweeper brings back a job that was lost.
 * @param next gets the time until the next question that is known
 * @returns how many questions got a job
 */
export async function sendDueQuestions(
  database: Database,
  next: NextDue = { inMs: null },
): Promise<number> {
  const found = await firstRow<Record<(typeof ASKED_KINDS)[number], number | null>>(database, FIND);
  let sent = 0;
  next.inMs = null;
  for (const kind of ASKED_KINDS) {
    const inMs = found![kind];
    if (inMs === null) continue;
    if (inMs <= 0) sent += await sendBatch(database, kind, DUE);
    else next.inMs = Math.min(inMs, next.inMs ?? inMs);
  }
  return sent;
}
