import { FAILED_JOB_STATES } from '../../domain/support/failed-job-store.ts';
import { findFailedJobs, requireFailedJobs } from '../../domain/support/find-failed-jobs.ts';
import type { Replay } from '../../domain/support/replay-failed-job.ts';
import { type ReplayOrder, type ReplayRun, replayJobs } from '../../domain/support/replay-jobs.ts';
import { flag, optional, UsageError, withDefault } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { failureOf } from '../failure.ts';
import { lists } from '../output/answers.ts';
import { failedJobs, replayWords, subjectOf } from '../output/failed-jobs.ts';
import { aligned } from '../output/table.ts';
import { type Answer, changes, type Noun } from '../verb.ts';

const MAX_TEXT_LENGTH = 200;
const MAX_AGE_DAYS = 3_650;
const MAX_JOB_ID = 999_999_999_999_999;
const MAX_IDS = 500;

const jobId = read.integer('ID', 1, MAX_JOB_ID);
const age = read.duration(MAX_AGE_DAYS);
const words = (placeholder: string) => read.text(placeholder, MAX_TEXT_LENGTH);
const state = read.oneOf(FAILED_JOB_STATES);

const filters = {
  queue: optional('queue', words('QUEUE'), 'Only those of this queue'),
  error: optional('error', words('TEXT'), 'Only those whose error contains this'),
  merchant_id: read.ofMerchant,
  payment: optional('payment', words('WHAT'), 'Only those of the payments that payment show finds'),
  olderThanMs: optional('older-than', age, 'Only those that failed longer ago, such as 2h'),
  newerThanMs: optional('newer-than', age, 'Only those that failed since then, such as 2h'),
};

const list = lists(failedJobs, jobId, {
  role: 'viewer',
  summary: 'Lists the jobs that have failed for good, newest first',
  notes:
    'waiting: until somebody replays it or decides about its payment. replayed: by an operator. failed_again: after a replay. moved_on: settled without a replay.',
  options: { ...filters, state: optional('state', state, 'Only those in this state') },
  read: ({ database }, { after, limit, ...search }) =>
    findFailedJobs(database, search, { order: 'newest first', after, limit }),
});

const RATE = { value: 10, max: 100 };
const STOP_AFTER = { value: 10, max: 1_000 };
const REPLAYS = { value: 1_000, max: 10_000 };

function count(flagName: string, help: string, { value, max }: { value: number; max: number }) {
  const words = `${help}. Default: ${value}; at most ${max}`;
  return withDefault(flagName, read.integer('COUNT', 1, max), words, value);
}

const replay = changes({
  role: 'support',
  summary: 'Gives the rows of failed jobs their next step again',
  notes:
    'IDS are ids of jobs list, separated by commas. A filter or --all takes the jobs that wait for somebody, oldest first. The next step is decided anew for each: a payment whose earlier attempt may have arrived is asked about, never sent. A replay may be interrupted and run again. Exit status 1 when it stopped early or refused a job.',
  options: {
    ids: optional('ids', read.integers('IDS', MAX_JOB_ID, MAX_IDS), 'The ids of the jobs'),
    ...filters,
    all: flag('all', 'All that wait for somebody'),
    isDryRun: flag('dry-run', 'Only say what would happen to each'),
    rate: count('rate', 'Jobs per second', RATE),
    stopAfter: count('stop-after', 'Stop when so many of them have failed again', STOP_AFTER),
    limit: count('limit', 'At most so many', REPLAYS),
  },
  argument: 'ids',
  check: ({ ids, all, ...given }) => {
    const names = Object.keys(filters) as (keyof typeof filters)[];
    const isFiltered = names.some((name) => given[name] !== undefined);
    const ways = [ids !== undefined, isFiltered, all].filter(Boolean).length;
    if (ways === 1) return;
    const way = ways === 0 ? 'Say which' : 'Say in one way which';
    throw new UsageError(`${way}: IDS, filters such as --queue, or --all`);
  },
  run: async ({ database }, { ids, isDryRun, rate, stopAfter, limit, ...given }, change) => {
    const { all: _, ...filter } = given;
    // One more job tells whether there are others.
    const page = { order: 'oldest first', limit: limit + 1 } as const;
    const found = ids
      ? await requireFailedJobs(database, ids)
      : await findFailedJobs(database, { ...filter, state: 'waiting' }, page);
    const jobs = ids ? found : found.slice(0, limit);
    const order = { jobs, isDryRun, rate, stopAfter };
    const run = await replayJobs(database, change, order);
    return replayAnswer(order, run, found.length > jobs.length);
  },
});

/** Tells what a run did, or would do, to each job, and where it ended. */
function replayAnswer(order: ReplayOrder, run: ReplayRun, more: boolean): Answer {
  const { jobs, isDryRun } = order;
  const { replays } = run;
  const refusals = replays.filter(({ action }) => action === undefined);
  const [refused, left] = [refusals.length, jobs.length - replays.length];
  const replayed = replays.length - refused;
  const stopped = reasonToStop(order, run);
  const counts = { replayed: isDryRun ? 0 : replayed, refused, left, more, stopped };
  const rows = replays.map((replay) => [
    String(replay.job.id),
    `${subjectOf(replay.job)}: ${replayWords(replay)}`,
  ]);
  return {
    // A job that was replayed before is no failure.
    isFailure: stopped !== null || refusals.some(({ refusal }) => refusal !== 'replayed'),
    data: { dry_run: isDryRun, jobs: replays.map(replayDocument), ...counts },
    lines: [
      aligned(rows),
      isDryRun
        ? `${replayed} would be replayed, ${refused} refused: nothing was changed`
        : `${replayed} replayed, ${refused} refused`,
      stopped && `Stopped: ${stopped}. Not looked at: ${left}`,
      counts.replayed > 0 &&
        'One that fails again does so within a minute: jobs list --state failed_again',
      more && 'There are more: run it again, or give a larger --limit',
    ],
  };
}

function reasonToStop({ jobs, stopAfter }: ReplayOrder, { replays, stoppedBy }: ReplayRun) {
  if (stoppedBy === null) return null;
  if (stoppedBy === 'failed again') {
    return `${stopAfter} of those that were replayed have failed again`;
  }
  return `at failed job ${jobs[replays.length]!.id}: ${failureOf(stoppedBy.error).line}`;
}

function replayDocument(replay: Replay) {
  const { job, action = null, refusal = null } = replay;
  return { ...failedJobs.document(job), action, refusal, what: replayWords(replay) };
}

export const jobs: Noun = { summary: 'Jobs that have failed for good', verbs: { list, replay } };
