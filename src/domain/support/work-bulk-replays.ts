import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Database,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { isOutage, isReadOnlyError, messageOf } from '../../connections/database-errors.ts';
import { SECOND_MS } from '../../time.ts';
import { recordAudit } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { hasStaff, mayActAs, STAFF_ROLES } from '../staff/staff.ts';
import {
  type BulkReplay,
  findBulkReplay,
  LEASE,
  MAX_REPLAYS_ALONE,
  type ReplayOutcome,
  replayedAlone,
  selectionOf,
} from './bulk-replay.ts';
import { countFailedJobs, type FailedJob, listFailedJobs } from './failed-job-store.ts';
import { type Replay, replayJob } from './replay-job.ts';

/** Bulk replays that one process works on in a round. */
const MAX_AT_ONCE = 10;

/** Another process has taken over, or somebody has stopped it. The replay is undone. */
class NotMine extends Error {}

/** The process that works, and its ways to stop and to hear of each job. */
interface Worker {
  database: Database;
  /** Names the process. */
  holder: string;
  /** Lets it stop after the job under way. */
  stopping?: AbortSignal | undefined;
  onReplay?(replay: Replay): void;
}

/**
 * Does the share of one second of each bulk replay that runs and that no other process works on.
 * Call it once a second. Each replay is a transaction of its own with its line in the audit log,
 * which also counts it: so a process may be killed at any moment, and the next one goes on behind
 * the last job that was done.
 * @returns how many bulk replays it worked on
 */
export async function workBulkReplays(worker: Worker): Promise<number> {
  const mine = await takeRunning(worker);
  for (const bulk of mine) await workOrEnd(worker, bulk);
  return mine.length;
}

/**
 * Works off the bulk replay that this process has begun as its holder.
 * @returns it when it has ended, or another process goes on with it
 */
export async function workOff(
  database: Database,
  { id, leased_by }: BulkReplay,
  onReplay: (replay: Replay) => void,
): Promise<BulkReplay> {
  const worker = { database, holder: leased_by!, onReplay };
  for (let rounds = 0; ; rounds += 1) {
    const bulk = (await findBulkReplay(database, id))!;
    if (bulk.state !== 'running' || bulk.leased_by !== leased_by) return bulk;
    if (rounds > 0) await sleep(SECOND_MS);
    await workOrEnd(worker, bulk);
  }
}

async function workOrEnd(worker: Worker, bulk: BulkReplay): Promise<void> {
  try {
    await workShare(worker, bulk);
  } catch (error) {
    // The next round tries again.
    if (isOutage(error) || isReadOnlyError(error)) throw error;
    await end(worker, bulk, messageOf(error));
  }
}

function takeRunning({ database, holder }: Worker): Promise<BulkReplay[]> {
  return rows<BulkReplay>(
    database,
    `UPDATE bulk_replays SET leased_by = :holder, leased_until = now() + ${LEASE}
     WHERE id IN (SELECT id FROM bulk_replays
       WHERE state = 'running' AND (leased_by = :holder OR leased_until < now())
       ORDER BY id LIMIT :most FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    { holder, most: MAX_AT_ONCE },
  );
}

async function workShare(worker: Worker, bulk: BulkReplay): Promise<void> {
  const { database, stopping, onReplay } = worker;
  if (await haveFailedAgain(database, bulk)) {
    return end(worker, bulk, `${bulk.stop_after} of those that were replayed have failed again`);
  }
  const jobs = await nextJobs(database, bulk);
  const left = (await needsSecond(database, bulk))
    ? Math.max(0, MAX_REPLAYS_ALONE - (await replayedAlone(database, bulk.requested_by)))
    : jobs.length;
  for (const job of jobs.slice(0, left)) {
    if (stopping?.aborted) return;
    try {
      const replay = await inTransaction(database, (trx) => replayNext(trx, worker, bulk, job));
      onReplay?.(replay);
    } catch (error) {
      if (error instanceof NotMine) return;
      if (isOutage(error) || isReadOnlyError(error)) throw error;
      return end(worker, bulk, whyOf(error, job));
    }
  }
  if (left < jobs.length) {
    await end(
      worker,
      bulk,
      `More than ${MAX_REPLAYS_ALONE} jobs within a day need a second person`,
    );
  } else if (jobs.length < bulk.rate) {
    await end(worker, bulk, null);
  }
}

/** While there are no staff accounts there is no second person. */
async function needsSecond(database: Database, { approved_by }: BulkReplay): Promise<boolean> {
  return approved_by === null && (await hasStaff(database));
}

function whyOf(error: unknown, { id }: FailedJob): string {
  const words = messageOf(error);
  return error instanceof OperatorRefusal ? words : `At failed job ${id}: ${words}`;
}

function nextJobs(database: Database, bulk: BulkReplay): Promise<FailedJob[]> {
  const page = { order: 'oldest first', after: bulk.done_up_to, limit: bulk.rate } as const;
  return listFailedJobs(database, selectionOf(bulk), page);
}

async function haveFailedAgain(
  database: Database,
  { id, stop_after: limit }: BulkReplay,
): Promise<boolean> {
  const filter = { bulkReplay: id, state: 'failed_again' } as const;
  return (await countFailedJobs(database, filter, limit)) === limit;
}

async function replayNext(
  trx: Transaction,
  { holder }: Worker,
  { id, requested_by: actor, approved_by, reason }: BulkReplay,
  job: FailedJob,
): Promise<Replay> {
  await requireStillSupport(trx, actor);
  const { value, audit } = await replayJob(trx, job, actor);
  await count(trx, { id, holder, job: job.id, outcome: value.action ?? value.refusal });
  if (!audit) return value;
  const mark = 'UPDATE failed_jobs SET bulk_replay_id = :id WHERE id = :job';
  await rows(trx, mark, { id, job: job.id });
  const details = { ...audit.details, bulk_replay: id, ...(approved_by && { approved_by }) };
  await recordAudit(trx, { ...audit, details, actor, reason, action: 'jobs.replay' });
  return value;
}

/**
 * A member who loses access in the middle of a replay stops it. While there are no staff accounts,
 * everybody may replay.
 */
async function requireStillSupport(trx: Transaction, email: string): Promise<void> {
  const roles = STAFF_ROLES.filter((role) => mayActAs(role, 'support'));
  const may = 'SELECT FROM staff WHERE email = :email AND active AND role = ANY (:roles) FOR SHARE';
  if ((await hasRow(trx, may, { email, roles })) || !(await hasStaff(trx))) return;
  throw new OperatorRefusal(`${email} may not replay jobs any more`);
}

interface Counted {
  id: string;
  holder: string;
  job: number;
  outcome: ReplayOutcome;
}

/** Counts a job in the transaction of its replay. @throws NotMine, which undoes the replay */
async function count(trx: Transaction, counted: Counted): Promise<void> {
  const isMine = await hasRow(
    trx,
    `UPDATE bulk_replays SET done_up_to = :job, leased_until = clock_timestamp() + ${LEASE},
       outcomes = outcomes || jsonb_build_object(CAST(:outcome AS text),
         coalesce(CAST(outcomes->>:outcome AS bigint), 0) + 1)
     WHERE id = :id AND state = 'running' AND leased_by = :holder AND done_up_to < :job
     RETURNING id`,
    counted,
  );
  if (!isMine) throw new NotMine();
}

async function end(
  { database, holder }: Worker,
  { id }: BulkReplay,
  why: string | null,
): Promise<void> {
  await rows(
    database,
    `UPDATE bulk_replays SET state = :state, why = :why, ended_at = now()
     WHERE id = :id AND state = 'running' AND leased_by = :holder`,
    { id, holder, why, state: why === null ? 'done' : 'stopped' },
  );
}

/** Gives bulk replays back, so that another process can go on with them at once. */
export async function releaseBulkReplays(database: Database, holder: string): Promise<void> {
  await rows(
    database,
    `UPDATE bulk_replays SET leased_until = '-infinity' WHERE state = 'running' AND leased_by = :holder`,
    { holder },
  );
}
