import { v7 as uuidv7 } from 'uuid';
import { type Database, databaseNow } from '../connections/database.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import {
  type BulkFilter,
  type BulkOrder,
  type BulkReplay,
  beginBulkReplay,
  bulkSubject,
  findBulkReplay,
  MAX_REPLAY_IDS,
  MAX_REPLAY_RATE,
  MAX_REPLAYS_ALONE,
  type ReplayOutcome,
  replayedAlone,
  STOP_AFTER_FAILED_AGAIN,
  selectionOf,
  stopBulkReplay,
} from '../domain/support/bulk-replay.ts';
import {
  countFailedJobs,
  type FailedJob,
  listFailedJobs,
  newestFailedJob,
  requireFailedJobs,
} from '../domain/support/failed-job-store.ts';
import { requirePayments } from '../domain/support/find-payments.ts';
import {
  foreseeReplays,
  REPLAY_REFUSAL_WORDS,
  REPLAY_WORDS,
  type Replay,
  replayJob,
} from '../domain/support/replay-job.ts';
import { counted } from '../domain/text.ts';
import { VEILED } from '../domain/veil.ts';
import { flag, optional, required, UsageError, withDefault } from './field.ts';
import { define, type Look, type Noun } from './operation.ts';
import * as read from './readers.ts';
import { countsOf, filterWords, isReplay, MOVING, moneyOf, outcomeWords } from './replay-words.ts';

/** Replays the failed job of one payment. */
export const replayOne = define<FailedJob, Record<never, never>>({
  name: 'jobs.replay',
  role: 'support',
  title: 'Replay a failed job',
  button: 'Replay',
  summary: 'Gives the row of a failed job its next step again',
  fields: {},
  preview: async ({ service, subject }) => {
    const [plan] = (await foreseeReplays(service.database, [subject])) as [Replay];
    if (plan.refusal) throw new OperatorRefusal(REPLAY_REFUSAL_WORDS[plan.refusal]);
    return [
      ...(MOVING.has(plan.action)
        ? [`It is about ${moneyOf(plan.action, subject.amount_cents ?? 0)}.`]
        : []),
      `Its replay: ${REPLAY_WORDS[plan.action]}.`,
      'The next step is decided anew at that moment. What may have arrived at the gateway is never sent again.',
    ];
  },
  perform: async ({ audited, subject, actor }) => {
    const { refusal } = await audited((trx) => replayJob(trx, subject, actor));
    if (refusal) throw new OperatorRefusal(REPLAY_REFUSAL_WORDS[refusal]);
    return { title: `Failed job ${subject.id} is replayed` };
  },
});

const MAX_TEXT_LENGTH = 200;
const MAX_AGE_DAYS = 3_650;
const MAX_JOB_ID = 999_999_999_999_999;
/** The most jobs that a page counts. */
const MAX_COUNTED = 20_000;

export const jobId = read.integer('ID', 1, MAX_JOB_ID);
const age = read.duration(MAX_AGE_DAYS);
const words = (placeholder: string) => read.text(placeholder, MAX_TEXT_LENGTH);

/** Selects failed jobs. */
export const jobFilters = {
  queue: optional('queue', words('QUEUE'), 'Only jobs of this queue'),
  error: optional('error', words('TEXT'), 'Only jobs whose error contains this'),
  merchant_id: read.ofMerchant,
  payment: optional('payment', words('WHAT'), 'Only jobs of the payments that payment show finds'),
  olderThanMs: optional('older-than', age, 'Only jobs that failed longer ago, such as 2h'),
  newerThanMs: optional('newer-than', age, 'Only jobs that failed since then, such as 2h'),
};

/** The jobs that somebody is about to replay, and the outcome that each would have now. */
export interface ReplayPlan {
  order: Omit<BulkOrder, 'rate' | 'stop_after'>;
  /** The oldest of the jobs, with what would come of each. */
  replays: Replay[];
  /** The number of all jobs, up to `MAX_COUNTED`. */
  total: number;
  /** There are more jobs that fit, which the order leaves out. */
  hasMore: boolean;
  /** The process that works it off itself. */
  holder?: string;
}

/**
 * Plans the replay of the jobs of a filter.
 * @param wanted has the id of a plan that was shown before, and its newest job
 * @throws OperatorRefusal when it names jobs that are not there
 */
export async function planReplays(
  database: Database,
  wanted: { id?: string | undefined; filter: BulkFilter; last_job?: number | undefined },
  limit: number,
): Promise<ReplayPlan> {
  const { id = uuidv7(), filter } = wanted;
  const newest = await newestFailedJob(database);
  const last_job = filter.ids
    ? Math.max(...filter.ids)
    : Math.min(wanted.last_job ?? newest, newest);
  const order = { id, filter, last_job };
  const found = filter.ids
    ? await requireFailedJobs(database, filter.ids)
    : await listFailedJobs(database, selectionOf(order), {
        order: 'oldest first',
        limit: limit + 1,
      });
  const replays = await foreseeReplays(database, found.slice(0, limit));
  const hasMore = found.length > limit;
  const total = hasMore
    ? await countFailedJobs(database, selectionOf(order), MAX_COUNTED)
    : replays.length;
  return { order, replays, total, hasMore };
}

const REPLAYS = { value: 1_000, max: 10_000 };

function count(flagName: string, label: string, { value, max }: { value: number; max: number }) {
  const help = `${label}. Default: ${value}; at most ${max}`;
  return withDefault(flagName, read.integer('COUNT', 1, max), help, value, { label });
}

const SELECTED: Noun<ReplayPlan> = {
  fields: {
    ids: optional('ids', read.integers('IDS', MAX_JOB_ID, MAX_REPLAY_IDS), 'The ids of the jobs'),
    ...jobFilters,
    all: flag('all', 'All that wait for somebody'),
    limit: count('limit', 'At most this number of jobs', REPLAYS),
  },
  argument: 'ids',
  find: async ({ database }, given) => {
    const { payment, limit, ids, queue, error, merchant_id, olderThanMs, newerThanMs } =
      given as BulkFilter & { payment?: string; limit: number };
    const found = payment ? await requirePayments(database, { what: payment, merchant_id }) : null;
    // The audit log keeps the filter for ever, so it has no phones in it.
    const payments = found?.map(({ merchant_id, id }) => ({ merchant_id, id }));
    const as_of = (await databaseNow(database)).toISOString();
    const named = { queue, error, merchant_id, olderThanMs, newerThanMs, as_of };
    const filter = ids ? { ids, as_of } : { ...named, ...(payments && { payments }) };
    const plan = await planReplays(database, { filter }, ids ? ids.length : limit);
    // The order ends with the last job of the limit.
    const last_job = plan.hasMore ? plan.replays.at(-1)!.job.id : plan.order.last_job;
    return {
      ...plan,
      order: { ...plan.order, last_job },
      total: plan.replays.length,
      holder: uuidv7(),
    };
  },
};

/** @throws UsageError unless jobs are selected in one way */
export function checkSelection({ ids, all, ...given }: Record<string, unknown>): void {
  const isFiltered = Object.keys(jobFilters).some((name) => given[name] !== undefined);
  const ways = [ids !== undefined, isFiltered, all].filter(Boolean).length;
  if (ways === 1) return;
  const way = ways === 0 ? 'Say which' : 'Say in one way which';
  throw new UsageError(`${way}: IDS, filters such as --queue, or --all`);
}

/** Replays many failed jobs. The one who begins it need not wait for its end. */
export const replayMany = define({
  name: 'jobs.replay',
  role: 'support',
  title: 'Replay failed jobs',
  button: 'Replay',
  summary: 'Gives the rows of failed jobs their next step again',
  notes: `IDS are ids of jobs list, separated by commas. A filter or --all takes the jobs that wait for somebody, oldest first. The next step is decided anew for each: a payment whose earlier attempt may have arrived is asked about, never sent. If the command is interrupted, a dispatcher goes on with the replay: jobs list-replays shows it, and jobs stop-replay stops it. Exit status 1 when it stopped early or refused a job.`,
  about: SELECTED,
  fields: {
    rate: count('rate', 'Jobs per second', { value: 10, max: MAX_REPLAY_RATE }),
    stopAfter: count('stop-after', 'Stop when this number of them have failed again', {
      value: STOP_AFTER_FAILED_AGAIN,
      max: 1_000,
    }),
  },
  asksFirst: true,
  whyNot: (plan) => {
    const { replays, hasMore } = plan;
    if (replays.length === 0) return 'No job matches';
    const isPossible = hasMore || replays.some(({ action }) => action !== undefined);
    return isPossible ? null : `None of them can be replayed (${outcomesOf(plan).join('; ')})`;
  },
  preview: (look, values) => values && linesOf(look, values),
  twoPeople: `for more than ${MAX_REPLAYS_ALONE} jobs, with the jobs that you have replayed alone within 24 hours`,
  approval: async ({ service, actor, subject }, { rate, stopAfter: stop_after }) => {
    const { order, total } = subject;
    if (total + (await replayedAlone(service.database, actor)) <= MAX_REPLAYS_ALONE) return null;
    return {
      subject: bulkSubject(order.id),
      merchant_id: order.filter.merchant_id ?? null,
      amount_cents: null,
      payload: { ...order, rate, stop_after },
      why: `More than ${MAX_REPLAYS_ALONE} jobs within 24 hours: somebody else must approve it. Nothing happens before.`,
    };
  },
  perform: async ({ audited, subject, actor, reason }, { rate, stopAfter: stop_after }) => {
    const { order, holder } = subject;
    const by = { requested_by: actor, reason, approved_by: null, ...(holder && { holder }) };
    const row = await audited((trx) => beginBulkReplay(trx, { ...order, rate, stop_after }, by));
    return { title: `The replay ${row.id} has begun`, row };
  },
});

interface Pace {
  rate: number;
  stopAfter: number;
}

function linesOf({ subject: plan, time }: Look<ReplayPlan>, { rate, stopAfter }: Pace): string[] {
  const { order, replays, hasMore, total } = plan;
  const atLeast = total < MAX_COUNTED ? '' : 'At least ';
  return [
    `${atLeast}${counted(total, 'failed job')}: ${VEILED.text(filterWords(order.filter, time))}.`,
    ...(hasMore ? [`Of the oldest ${replays.length}:`] : []),
    ...outcomesOf(plan).map((line) => `${line}.`),
    'The next step of each is decided anew when its turn comes, so the counts may differ then.',
    `It replays ${rate} per second, the oldest first.`,
    `It stops when ${stopAfter} of them have failed again.`,
  ];
}

function outcomesOf({ replays }: ReplayPlan): string[] {
  const outcomes: Partial<Record<ReplayOutcome, number>> = {};
  const cents: Partial<Record<ReplayOutcome, number>> = {};
  for (const { action, refusal, job } of replays) {
    const outcome = action ?? refusal;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    cents[outcome] = (cents[outcome] ?? 0) + (job.amount_cents ?? 0);
  }
  return countsOf(outcomes).map(({ outcome, count }) => {
    const isMoving = isReplay(outcome) && MOVING.has(outcome);
    const money = isMoving ? ` (${moneyOf(outcome, cents[outcome]!)})` : '';
    return `${count}${money}: ${outcomeWords(outcome)}`;
  });
}

const BULK_REPLAY: Noun<BulkReplay> = {
  fields: { id: required('replay', read.uuid, 'The id of the replay of many jobs') },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findBulkReplay(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no replay ${id}`);
  },
};

/** Stops a replay of many jobs. */
export const stopReplay = define<BulkReplay, Record<never, never>>({
  name: 'jobs.stop-replay',
  role: 'support',
  title: 'Stop it',
  button: 'Stop',
  summary: 'Stops a replay of many failed jobs',
  about: BULK_REPLAY,
  fields: {},
  preview: () => ['Nothing more is replayed. What is done stays done.'],
  perform: async ({ audited, subject: { id }, actor }) => {
    const row = await audited((trx) => stopBulkReplay(trx, id, actor));
    return { title: `The replay ${id} is stopped`, row };
  },
});
