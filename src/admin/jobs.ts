import type { Database } from '../connections/database.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { FAILED_JOB_STATES, type FailedJob } from '../domain/support/failed-job.ts';
import { type FailedJobFilter, listFailedJobs } from '../domain/support/failed-job-store.ts';
import { findPayments } from '../domain/support/find-payments.ts';
import {
  changes,
  flag,
  optional,
  optionalOr,
  reads,
  UsageError,
  type ValuesOf,
} from './command.ts';
import { type ReplayOrder, replayAnswer, replayJobs } from './jobs-replay.ts';
import { failedJobList } from './jobs-view.ts';
import { answerList, limitOption } from './lists.ts';
import { duration, integer, integers, merchantId, oneOf, text } from './readers.ts';

const MAX_TEXT_LENGTH = 200;
/** Whoever means one of more payments than this has to narrow it. */
const MAX_PAYMENTS = 100;
const MAX_AGE_DAYS = 3_650;
const MAX_JOB_ID = 999_999_999_999_999;
const MAX_IDS = 500;

const filters = {
  queue: optional(text('QUEUE', MAX_TEXT_LENGTH), 'Only those of this queue'),
  error: optional(text('TEXT', MAX_TEXT_LENGTH), 'Only those whose error contains this'),
  merchant: optional(merchantId, 'Only those of this merchant'),
  payment: optional(
    text('WHAT', MAX_TEXT_LENGTH),
    'Only those of this payment: what payment show takes',
  ),
  'older-than': optional(duration(MAX_AGE_DAYS), 'Only those that failed longer ago, such as 2h'),
  'newer-than': optional(duration(MAX_AGE_DAYS), 'Only those that failed since then, such as 2h'),
};

type Filters = ValuesOf<typeof filters>;
const FILTER_NAMES = Object.keys(filters) as (keyof Filters)[];

const list = reads({
  summary: 'Lists the jobs that have failed for good, newest first',
  notes: [
    'waiting: for somebody to replay it, or to decide about its payment in another way.',
    'replayed, failed_again: by whom. moved_on: it has been settled without a replay.',
  ],
  options: {
    ...filters,
    state: optional(oneOf(FAILED_JOB_STATES), 'Only those of which this has become'),
    after: optional(integer('ID', 1, MAX_JOB_ID), 'Begin after this one'),
    limit: limitOption,
  },
  run: async ({ database }, { state, after, limit, ...given }) => {
    const filter = { ...(await filterOf(database, given)), state };
    return answerList(failedJobList, limit, (count) =>
      listFailedJobs(database, filter, { order: 'newest first', after, limit: count }),
    );
  },
});

const DEFAULT_RATE = 10;
const MAX_RATE = 100;
const DEFAULT_STOP_AFTER = 10;
const MAX_STOP_AFTER = 1_000;
const DEFAULT_REPLAYS = 1_000;
const MAX_REPLAYS = 10_000;

const replay = changes({
  summary: 'Gives what failed jobs were for its next step again',
  notes: [
    'IDS are one or more of jobs list, with commas. With a filter, or --all, it takes those that',
    'wait for somebody, oldest first. What comes next is decided anew for each: a payment whose',
    'earlier attempt may have arrived is asked about, never sent. It may be interrupted and run',
    'again. Exit status 1 when it stopped early or refused one.',
  ],
  options: {
    ids: optional(integers('IDS', MAX_JOB_ID, MAX_IDS), 'Which ones'),
    ...filters,
    all: flag('All that wait for somebody'),
    'dry-run': flag('Only say what would come of each'),
    rate: optionalOr(
      integer('COUNT', 1, MAX_RATE),
      DEFAULT_RATE,
      `How many a second. Default: ${DEFAULT_RATE}, at most ${MAX_RATE}`,
    ),
    'stop-after': optionalOr(
      integer('COUNT', 1, MAX_STOP_AFTER),
      DEFAULT_STOP_AFTER,
      `Stop when so many of them have failed again. Default: ${DEFAULT_STOP_AFTER}`,
    ),
    limit: optionalOr(
      integer('COUNT', 1, MAX_REPLAYS),
      DEFAULT_REPLAYS,
      `How many at most. Default: ${DEFAULT_REPLAYS}, at most ${MAX_REPLAYS}`,
    ),
  },
  argument: 'ids',
  check: ({ ids, all, ...given }) => {
    const isFiltered = FILTER_NAMES.some((name) => given[name] !== undefined);
    const ways = [ids !== undefined, isFiltered, all].filter(Boolean).length;
    if (ways === 1) return;
    const way = ways === 0 ? 'Say which' : 'Say in one way which';
    throw new UsageError(`${way}: IDS, filters such as --queue, or --all`);
  },
  run: async (context, { ids, limit, rate, ...values }) => {
    const { database } = context.service;
    const found = ids
      ? await jobsWithIds(database, ids)
      : await listFailedJobs(
          database,
          { ...(await filterOf(database, values)), state: 'waiting' },
          { order: 'oldest first', limit: limit + 1 },
        );
    const jobs = ids ? found : found.slice(0, limit);
    const order: ReplayOrder = {
      jobs,
      rate,
      isDryRun: values['dry-run'],
      stopAfter: values['stop-after'],
    };
    return replayAnswer(order, await replayJobs(context, order), found.length > jobs.length);
  },
});

async function jobsWithIds(database: Database, ids: number[]): Promise<FailedJob[]> {
  const found = await listFailedJobs(
    database,
    { ids },
    { order: 'oldest first', limit: ids.length },
  );
  const missing = ids.find((id) => !found.some((job) => job.id === id));
  if (missing === undefined) return found;
  throw new OperatorRefusal(`There is no failed job ${missing}`);
}

async function filterOf(database: Database, given: Filters): Promise<FailedJobFilter> {
  const { queue, error, merchant: merchant_id, payment } = given;
  const filter = {
    ...{ queue, error, merchant_id },
    olderThanMs: given['older-than'],
    newerThanMs: given['newer-than'],
  };
  if (payment === undefined) return filter;
  const search = { what: payment, merchant_id, limit: MAX_PAYMENTS + 1 };
  const payments = await findPayments(database, search);
  const what = JSON.stringify(payment);
  if (payments.length === 0) throw new OperatorRefusal(`No payment is known by ${what}`);
  if (payments.length <= MAX_PAYMENTS) return { ...filter, payments };
  throw new OperatorRefusal(`More than ${MAX_PAYMENTS} payments are known by ${what}: --merchant`);
}

export const jobsVerbs = { list, replay };
