import { type BulkReplay, listBulkReplays, lookedAt } from '../../domain/support/bulk-replay.ts';
import { FAILED_JOB_STATES, findFailedJobs } from '../../domain/support/failed-job-store.ts';
import type { Replay } from '../../domain/support/replay-job.ts';
import { workOff } from '../../domain/support/work-bulk-replays.ts';
import { flag, optional } from '../../operations/field.ts';
import {
  checkSelection,
  jobFilters,
  jobId,
  type ReplayPlan,
  replayMany,
  stopReplay,
} from '../../operations/job.ts';
import * as read from '../../operations/readers.ts';
import { failureOf } from '../failure.ts';
import { verbFor, verbsOf } from '../operation-verb.ts';
import { lists, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { failedJobs, replayWords, subjectOf } from '../output/failed-jobs.ts';
import { aligned } from '../output/table.ts';
import type { Answer, Noun, Verb } from '../verb.ts';

const list = lists(failedJobs, jobId, {
  role: 'support',
  summary: 'Lists the jobs that have failed for good, newest first',
  notes:
    'waiting: until somebody replays it or decides about its payment. replayed: by an operator. failed_again: after a replay. moved_on: settled without a replay.',
  options: {
    ...jobFilters,
    state: optional('state', read.oneOf(FAILED_JOB_STATES), 'Only those in this state'),
  },
  read: ({ database }, { after, limit, ...search }) =>
    findFailedJobs(database, search, { order: 'newest first', after, limit }),
});

const bulkReplays: View<BulkReplay> = {
  what: 'replay',
  keyOf: ({ id }) => id,
  document: (bulk) => rowDocument({ ...bulk, looked_at: lookedAt(bulk) }, ['leased_by']),
  columns: [
    'id',
    ['BEGUN', 'requested_at'],
    ['BY', 'requested_by'],
    'state',
    ['LOOKED AT', lookedAt],
    'why',
  ],
};

const listReplays = lists(bulkReplays, read.uuid, {
  role: 'support',
  summary: 'Lists the replays of many jobs, newest first, and how far each is',
  read: ({ database }, page) => listBulkReplays(database, page),
});

const replayVerb = verbFor(
  replayMany,
  () => bulkReplays,
  async ({ database }, { result, subject }) => {
    const replays: Replay[] = [];
    const stopped = await workOff(database, result.row as BulkReplay, (replay) =>
      replays.push(replay),
    ).then(
      ({ state, why }) =>
        state === 'running' ? 'a dispatcher goes on with it' : why && inSentence(why),
      // Replays that are done stay done, and the operator must hear of them.
      (error) => `${failureOf(error).line}. A dispatcher goes on with it: jobs list-replays`,
    );
    return replayAnswer({ plan: subject, replays, stopped, isDryRun: false });
  },
);

function inSentence(words: string): string {
  return `${words[0]!.toLowerCase()}${words.slice(1)}`;
}

const dryRun = flag('dry-run', 'Only say what would happen to each');

/** Begins a replay of many jobs and works it off, unless none of them can be replayed. */
const replay: Verb = {
  ...replayVerb,
  options: { ...replayVerb.options, isDryRun: dryRun },
  check: checkSelection,
  run: async (service, given, change) => {
    const { about } = replayMany;
    const plan = await about!.find(service, given);
    const isDryRun = given.isDryRun === true;
    if (isDryRun || plan.replays.every(({ action }) => action === undefined)) {
      return replayAnswer({ plan, replays: plan.replays, stopped: null, isDryRun });
    }
    return replayVerb.run(service, given, change);
  },
};

interface Run {
  plan: ReplayPlan;
  /** The jobs that were looked at, in the order of their replay. */
  replays: Replay[];
  /** Why it stopped before the last job. */
  stopped: string | null;
  isDryRun: boolean;
}

/** Tells what a run did, or would do, to each job, and where it ended. */
function replayAnswer({ plan, replays, stopped, isDryRun }: Run): Answer {
  const refusals = replays.filter(({ action }) => action === undefined);
  const [refused, left] = [refusals.length, plan.replays.length - replays.length];
  const replayed = replays.length - refused;
  const counts = { replayed: isDryRun ? 0 : replayed, refused, left, more: plan.hasMore, stopped };
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
      plan.hasMore && 'There are more: run it again, or give a larger --limit',
    ],
  };
}

function replayDocument(replay: Replay) {
  const { job, action = null, refusal = null } = replay;
  return { ...failedJobs.document(job), action, refusal, what: replayWords(replay) };
}

export const jobs: Noun = {
  summary: 'Jobs that have failed for good',
  verbs: {
    list,
    replay,
    'list-replays': listReplays,
    ...verbsOf([stopReplay], () => bulkReplays),
  },
};
