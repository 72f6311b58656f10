import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction } from '../connections/database.ts';
import type { FailedJob } from '../domain/support/failed-job.ts';
import { listFailedJobs } from '../domain/support/failed-job-store.ts';
import { planReplay, type Replay, replayFailedJob } from '../domain/support/replay-failed-job.ts';
import type { Answer, ChangeContext } from './command.ts';
import { failureOf } from './failure.ts';
import { failedJobDocument, replayWords, subjectOf } from './jobs-view.ts';
import { columns } from './output.ts';

const SECOND_MS = 1_000;

export interface ReplayOrder {
  /** In the order in which they are replayed. */
  jobs: FailedJob[];
  isDryRun: boolean;
  /** At most so many in a second. */
  rate: number;
  /** It stops when so many of those that were replayed have failed again. */
  stopAfter: number;
}

export interface ReplayRun {
  /** Of each job that was looked at, replayed or refused. */
  replays: Replay[];
  /** Why it has stopped before the last one; null when it has not. */
  stopped: string | null;
}

/**
 * Replays one after the other, each in a transaction of its own with its line in the audit
 * log. After each second's share it looks whether what it replayed has failed again: then
 * there is something to mend first.
 */
export async function replayJobs(context: ChangeContext, order: ReplayOrder): Promise<ReplayRun> {
  const { jobs, rate } = order;
  const replays: Replay[] = [];
  try {
    for (let begin = 0; begin < jobs.length; begin += rate) {
      const stopped = begin === 0 ? null : await reasonToStop(context, order, replays);
      if (stopped) return { replays, stopped };
      for (const job of jobs.slice(begin, begin + rate)) {
        replays.push(await replayOne(context, job, order.isDryRun));
      }
    }
    return { replays, stopped: null };
  } catch (error) {
    // What is done is done, and its operator must hear of it.
    const at = `at failed job ${jobs[replays.length]!.id}`;
    return { replays, stopped: `${at}: ${failureOf(error).line}` };
  }
}

function replayOne(context: ChangeContext, job: FailedJob, isDryRun: boolean): Promise<Replay> {
  if (isDryRun) return inTransaction(context.service.database, (trx) => planReplay(trx, job));
  return context.audited(async (trx) => {
    const value = await replayFailedJob(trx, job, context.actor);
    return { value, audit: value.action === undefined ? null : auditOf(value) };
  });
}

function auditOf({ job, action }: Replay) {
  const { id, queue, kind, row_id, ref_no, error } = job;
  return {
    merchant_id: job.merchant_id,
    subject: `failed job ${id}`,
    details: { queue, kind, row_id, ref_no, error, action },
  };
}

async function reasonToStop(
  { service }: ChangeContext,
  { stopAfter, isDryRun }: ReplayOrder,
  replays: Replay[],
): Promise<string | null> {
  if (isDryRun) return null;
  await sleep(SECOND_MS);
  const ids = replays.filter(({ action }) => action !== undefined).map(({ job }) => job.id);
  const failed = await listFailedJobs(
    service.database,
    { ids, state: 'failed_again' },
    { order: 'oldest first', limit: stopAfter },
  );
  if (failed.length < stopAfter) return null;
  return `${stopAfter} of those that were replayed have failed again`;
}

/** What came, or would come, of each, and where it ended. */
export function replayAnswer(
  { jobs, isDryRun }: ReplayOrder,
  { replays, stopped }: ReplayRun,
  isMore: boolean,
): Answer {
  const refused = replays.filter(({ action }) => action === undefined);
  const replayed = replays.length - refused.length;
  const left = jobs.length - replays.length;
  return {
    isFailure: stopped !== null || refused.some(({ refusal }) => refusal !== 'replayed'),
    data: {
      dry_run: isDryRun,
      jobs: replays.map(document),
      ...{
        replayed: isDryRun ? 0 : replayed,
        refused: refused.length,
        left,
        more: isMore,
        stopped,
      },
    },
    lines: [
      ...columns(
        replays.map((replay) => [
          String(replay.job.id),
          `${subjectOf(replay.job)}: ${replayWords(replay)}`,
        ]),
      ),
      isDryRun
        ? `${replayed} would be replayed, ${refused.length} refused: nothing was changed`
        : `${replayed} replayed, ${refused.length} refused`,
      ...(stopped ? [`Stopped: ${stopped}. Not looked at: ${left}`] : []),
      ...(isDryRun || replayed === 0
        ? []
        : ['One that fails again does so within a minute: jobs list --state failed_again']),
      ...(isMore ? ['There are more: run it again, or give a larger --limit'] : []),
    ],
  };
}

function document(replay: Replay) {
  const { job, action = null, refusal = null } = replay;
  return { ...failedJobDocument(job), action, refusal, what: replayWords(replay) };
}
