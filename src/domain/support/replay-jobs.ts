import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, inTransaction, type Transaction } from '../../connections/database.ts';
import { SECOND_MS } from '../../time.ts';
import type { Audited, AuditedChange } from '../audit/audit.ts';
import { type FailedJob, listFailedJobs } from './failed-job-store.ts';
import { planReplay, type Replay, replayFailedJob } from './replay-failed-job.ts';

export interface ReplayOrder {
  /** In the order of their replay. */
  jobs: FailedJob[];
  isDryRun: boolean;
  /** The most replays per second. */
  rate: number;
  /** Stops when this many of the replayed jobs have failed again. */
  stopAfter: number;
}

export interface ReplayRun {
  /** Counts the jobs that were looked at, replayed and refused ones. */
  replays: Replay[];
  /** Why it stopped before the last job; null when it did not. */
  stoppedBy: 'failed again' | { error: unknown } | null;
}

/**
 * Replays jobs one after the other, each in a transaction of its own with its line in the audit
 * log. After each second's share it looks whether replayed jobs have failed again: then there
 * is something to mend first.
 */
export async function replayJobs(
  database: Database,
  operator: { actor: string; audited: Audited },
  { jobs, isDryRun, rate, stopAfter }: ReplayOrder,
): Promise<ReplayRun> {
  const replays: Replay[] = [];
  try {
    for (const job of jobs) {
      if (!isDryRun && replays.length > 0 && replays.length % rate === 0) {
        await sleep(SECOND_MS);
        const isStopped = await haveFailedAgain(database, replays, stopAfter);
        if (isStopped) return { replays, stoppedBy: 'failed again' };
      }
      const replay = isDryRun
        ? await inTransaction(database, (trx) => planReplay(trx, job))
        : await replayOne(operator, job);
      replays.push(replay);
    }
    return { replays, stoppedBy: null };
  } catch (error) {
    // Replays that are done stay done, and the operator must hear of them.
    return { replays, stoppedBy: { error } };
  }
}

function replayOne(
  { actor, audited }: { actor: string; audited: Audited },
  job: FailedJob,
): Promise<Replay> {
  return audited((trx) => replayWithin(trx, job, actor));
}

/** Replays a job in the caller's transaction, with what the audit log keeps of it. */
export async function replayWithin(
  trx: Transaction,
  job: FailedJob,
  actor: string,
): Promise<AuditedChange<Replay>> {
  const value = await replayFailedJob(trx, job, actor);
  const { id, merchant_id, queue, kind, row_id, ref_no, error } = value.job;
  const details = { queue, kind, row_id, ref_no, error, action: value.action };
  const audit = { merchant_id, subject: `failed job ${id}`, details };
  return { value, audit: value.action === undefined ? null : audit };
}

async function haveFailedAgain(
  database: Database,
  replays: Replay[],
  count: number,
): Promise<boolean> {
  const ids = replays.filter(({ action }) => action !== undefined).map(({ job }) => job.id);
  const page = { order: 'oldest first', limit: count } as const;
  const failed = await listFailedJobs(database, { ids, state: 'failed_again' }, page);
  return failed.length === count;
}
