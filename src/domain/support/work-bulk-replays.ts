import {
  type Database,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { isOutage, isReadOnlyError, messageOf } from '../../connections/database-errors.ts';
import { recordAudit } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { mayActAs, STAFF_ROLES } from '../staff/staff.ts';
import {
  type BulkReplay,
  lookedAt,
  MAX_REPLAYS_ALONE,
  type ReplayOutcome,
  selectionOf,
} from './bulk-replay.ts';
import { type FailedJob, listFailedJobs } from './failed-job-store.ts';
import { replayWithin } from './replay-jobs.ts';

/** A process that has not worked for so long has lost its bulk replays to others. */
const LEASE = "interval '30 seconds'";
/** Bulk replays that one process works on in a round. */
const MAX_AT_ONCE = 10;
/** A bulk replay stops when this many of its jobs have failed again: the cause is still there. */
export const STOP_AFTER_FAILED_AGAIN = 10;

/** Another process has taken over, or somebody has stopped it. The replay is undone. */
class NotMine extends Error {}

/**
 * Does the share of one second of each bulk replay that runs and that no other process works on.
 * Call it once a second. Each replay is a transaction of its own with its line in the audit log,
 * which also counts it: so a process may be killed at any moment, and the next one goes on behind
 * the last job that was done.
 * @param holder names the process
 * @param stopping lets it stop after the job under way
 * @returns how many bulk replays it worked on
 */
export async function workBulkReplays(
  database: Database,
  holder: string,
  stopping?: AbortSignal,
): Promise<number> {
  const mine = await takeRunning(database, holder);
  for (const bulk of mine) {
    try {
      await workShare(database, holder, bulk, stopping);
    } catch (error) {
      // The next round tries again.
      if (isOutage(error) || isReadOnlyError(error)) throw error;
      await end(database, holder, bulk, messageOf(error));
    }
  }
  return mine.length;
}

function takeRunning(database: Database, holder: string): Promise<BulkReplay[]> {
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

async function workShare(
  database: Database,
  holder: string,
  bulk: BulkReplay,
  stopping?: AbortSignal,
): Promise<void> {
  if (await haveFailedAgain(database, bulk)) {
    const why = `${STOP_AFTER_FAILED_AGAIN} of those that were replayed have failed again`;
    return end(database, holder, bulk, why);
  }
  const jobs = await nextJobs(database, bulk);
  if (jobs.length === 0) return end(database, holder, bulk, null);
  const left = bulk.approved_by === null ? MAX_REPLAYS_ALONE - lookedAt(bulk) : jobs.length;
  for (const job of jobs.slice(0, left)) {
    if (stopping?.aborted) return;
    try {
      await inTransaction(database, (trx) => replayNext(trx, holder, bulk, job));
    } catch (error) {
      if (error instanceof NotMine) return;
      if (isOutage(error) || isReadOnlyError(error)) throw error;
      return end(database, holder, bulk, whyOf(error, job));
    }
  }
  if (left < jobs.length) {
    const why = `More than ${MAX_REPLAYS_ALONE} jobs need a second person`;
    await end(database, holder, bulk, why);
  }
}

function whyOf(error: unknown, { id }: FailedJob): string {
  const words = messageOf(error);
  return error instanceof OperatorRefusal ? words : `At failed job ${id}: ${words}`;
}

function nextJobs(database: Database, bulk: BulkReplay): Promise<FailedJob[]> {
  const page = { order: 'oldest first', after: bulk.done_up_to, limit: bulk.rate } as const;
  return listFailedJobs(database, selectionOf(bulk), page);
}

async function haveFailedAgain(database: Database, { id }: BulkReplay): Promise<boolean> {
  const page = { order: 'oldest first', limit: STOP_AFTER_FAILED_AGAIN } as const;
  const filter = { bulkReplay: id, state: 'failed_again' } as const;
  return (await listFailedJobs(database, filter, page)).length === STOP_AFTER_FAILED_AGAIN;
}

async function replayNext(
  trx: Transaction,
  holder: string,
  { id, requested_by: actor, approved_by, reason }: BulkReplay,
  job: FailedJob,
): Promise<void> {
  await requireStillSupport(trx, actor);
  const { value, audit } = await replayWithin(trx, job, actor);
  await count(trx, { id, holder, job: job.id, outcome: value.action ?? value.refusal });
  if (!audit) return;
  const mark = 'UPDATE failed_jobs SET bulk_replay_id = :id WHERE id = :job';
  await rows(trx, mark, { id, job: job.id });
  const details = { ...audit.details, bulk_replay: id, ...(approved_by && { approved_by }) };
  await recordAudit(trx, { ...audit, details, actor, reason, action: 'jobs.replay' });
}

/** A member who loses access in the middle of a replay stops it, as on the command line. */
async function requireStillSupport(trx: Transaction, email: string): Promise<void> {
  const roles = STAFF_ROLES.filter((role) => mayActAs(role, 'support'));
  const may = 'SELECT FROM staff WHERE email = :email AND active AND role = ANY (:roles) FOR SHARE';
  if (await hasRow(trx, may, { email, roles })) return;
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
  database: Database,
  holder: string,
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
