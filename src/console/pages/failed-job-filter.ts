import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { type Database, databaseNow } from '../../connections/database.ts';
import { channelByCode } from '../../domain/channels/channel.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import {
  type BulkFilter,
  type BulkOrder,
  MAX_REPLAYS_ALONE,
  type ReplayOutcome,
  selectionOf,
} from '../../domain/support/bulk-replay.ts';
import { REPLAY_STEPS, type ReplayAction } from '../../domain/support/decide-replay.ts';
import {
  countFailedJobs,
  FAILED_JOB_STATES,
  type FailedJob,
  type FailedJobFilter,
  type FailedJobState,
  listFailedJobs,
  newestFailedJob,
} from '../../domain/support/failed-job-store.ts';
import { requireFailedJobs } from '../../domain/support/find-failed-jobs.ts';
import { foreseeReplays } from '../../domain/support/foresee-replays.ts';
import { REPLAY_REFUSAL_WORDS, REPLAY_WORDS } from '../../domain/support/replay-words.ts';
import { HOUR_MS } from '../../time.ts';
import { recordView } from '../access/audit.ts';
import { nairobiTime } from '../shell/links.tsx';
import { ageIn, idIn, numberIn, textIn } from '../shell/read-fields.ts';
import { type ListPage, listPage } from '../shell/table.tsx';
import type { Visit } from '../visit.ts';

/** Returns the state that the list shows: those that wait, unless the address says otherwise. */
export function stateIn({ state, bulk }: Visit['query']): FailedJobState | undefined {
  const found = FAILED_JOB_STATES.find((each) => each === state);
  return found ?? (state === 'all' || bulk ? undefined : 'waiting');
}

/** Reads a page of failed jobs, newest first. */
export async function readFailedJobs(visit: Visit): Promise<ListPage<FailedJob, number>> {
  const { service, query } = visit;
  const filter = {
    ...filterIn(query),
    state: stateIn(query),
    bulkReplay: idIn(query, 'bulk'),
  };
  const placed = { order: 'newest first', after: numberIn(query, 'after') } as const;
  const page = await listPage(
    (limit) => listFailedJobs(service.database, filter, { ...placed, limit }),
    ({ id }) => id,
  );
  await recordView(visit, {
    action: 'jobs.list',
    subject: 'jobs',
    rows: page.rows.length,
    merchant_id: filter.merchant_id ?? null,
    lookedFor: { ...query },
  });
  return page;
}

type Given = Readonly<Record<string, string>>;

/** The jobs that a preview looks at. */
const MAX_FORESEEN = 1_000;
/** The most jobs that the page counts. */
export const MAX_COUNTED = 20_000;
const JOB_FIELD = /^job(\d{1,15})$/;
export const DEFAULT_RATE = 10;

/** The fields that a preview hands on to the form below it. */
const CARRIED = ['all', 'queue', 'error', 'merchant', 'channel', 'older', 'newer'] as const;

/** Reads the filters that the list and a replay have in common. */
function filterIn(given: Given): Omit<FailedJobFilter, 'state' | 'bulkReplay'> {
  return {
    queue: textIn(given, 'queue'),
    error: textIn(given, 'error'),
    merchant_id: numberIn(given, 'merchant'),
    channel: numberIn(given, 'channel'),
    olderThanMs: ageIn(given, 'older'),
    newerThanMs: ageIn(given, 'newer'),
  };
}

/** What somebody is about to replay, and what would come of it now. */
export interface Plan {
  order: BulkOrder;
  outcomes: Partial<Record<ReplayOutcome, number>>;
  /** The jobs that were looked at, and whether there are more. */
  count: number;
  hasMore: boolean;
  /** All jobs, up to `MAX_COUNTED`. */
  total: number;
  needsSecond: boolean;
  /** What the form must carry on, so that it means the same jobs. */
  carried: [string, string][];
}

/**
 * Plans the replay that an address or a form asks for.
 * @throws OperatorRefusal when it names no jobs, or jobs that are not there
 */
export async function planOf({ service: { database } }: Visit, given: Given): Promise<Plan> {
  const ids = Object.keys(given)
    .flatMap((name) => JOB_FIELD.exec(name)?.[1] ?? [])
    .map(Number);
  if (ids.length === 0 && !given.all) throw new OperatorRefusal('Select at least one job');
  const as_of = asOfIn(given, await databaseNow(database));
  const filter: BulkFilter = given.all ? { ...filterIn(given), as_of } : { ids, as_of };
  const order = {
    id: given.id && isUuid(given.id) ? given.id : uuidv7(),
    filter,
    last_job: given.all ? await lastJobIn(given, database) : Math.max(...ids),
    rate: Number(given.rate || DEFAULT_RATE),
  };
  const found = given.all
    ? await listFailedJobs(database, selectionOf(order), PREVIEWED)
    : await requireFailedJobs(database, ids);
  const jobs = found.slice(0, MAX_FORESEEN);
  const outcomes: Plan['outcomes'] = {};
  for (const { action, refusal } of await foreseeReplays(database, jobs)) {
    const outcome = action ?? refusal;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return {
    order,
    outcomes,
    count: jobs.length,
    hasMore: found.length > jobs.length,
    total:
      found.length > jobs.length
        ? await countFailedJobs(database, selectionOf(order), MAX_COUNTED)
        : jobs.length,
    needsSecond: found.length > MAX_REPLAYS_ALONE,
    carried: carriedOf(given, order),
  };
}

const PREVIEWED = { order: 'oldest first', limit: MAX_FORESEEN + 1 } as const;

/** The moment of the preview. Nobody selects what is not there yet. */
function asOfIn({ as_of = '' }: Given, now: Date): string {
  const at = Date.parse(as_of);
  return new Date(Number.isNaN(at) ? now : Math.min(at, now.getTime())).toISOString();
}

/** The newest job of the preview. */
async function lastJobIn(given: Given, database: Database): Promise<number> {
  const newest = await newestFailedJob(database);
  return Math.min(numberIn(given, 'last_job') ?? newest, newest);
}

function carriedOf(given: Given, { id, last_job, filter }: BulkOrder): [string, string][] {
  const named = given.all
    ? CARRIED.flatMap((name): [string, string][] => (given[name] ? [[name, given[name]]] : []))
    : (filter.ids ?? []).map((job): [string, string] => [`job${job}`, 'on']);
  return [...named, ['id', id], ['last_job', String(last_job)], ['as_of', filter.as_of]];
}

/** The states of failed jobs, as the list shows them. */
export const STATE_WORDS: Readonly<Record<FailedJobState, string>> = {
  waiting: 'waits for somebody',
  replayed: 'replayed',
  failed_again: 'replayed, and failed again',
  moved_on: 'has moved on meanwhile',
};

/** Tells whether an outcome is a replay, and not a refusal. */
export function isReplay(outcome: ReplayOutcome): outcome is ReplayAction {
  return Object.hasOwn(REPLAY_STEPS, outcome);
}

/** Says what comes of a job. */
export function outcomeWords(outcome: ReplayOutcome): string {
  return isReplay(outcome) ? REPLAY_WORDS[outcome] : `refused: ${REPLAY_REFUSAL_WORDS[outcome]}`;
}

/** Returns the outcomes with their counts, replays first. */
export function countsOf(
  outcomes: Readonly<Partial<Record<ReplayOutcome, number>>>,
): { outcome: ReplayOutcome; count: number }[] {
  return (Object.entries(outcomes) as [ReplayOutcome, number][])
    .map(([outcome, count]) => ({ outcome, count }))
    .sort((a, b) => Number(isReplay(b.outcome)) - Number(isReplay(a.outcome)) || b.count - a.count);
}

/** Says which jobs a filter selects. */
export function filterWords(filter: BulkFilter): string {
  const { ids, queue, error, merchant_id, channel, olderThanMs, newerThanMs, as_of } = filter;
  if (ids) return `the failed jobs ${ids.join(', ')}`;
  const before = `before ${nairobiTime(new Date(as_of))}`;
  const words = [
    queue && `of the queue ${queue}`,
    error && `whose error has “${error}”`,
    merchant_id !== undefined && `of merchant ${merchant_id}`,
    channel !== undefined && `of ${channelByCode(channel)?.name ?? `channel ${channel}`}`,
    olderThanMs !== undefined && `that failed more than ${hours(olderThanMs)} ${before}`,
    newerThanMs !== undefined && `that failed within ${hours(newerThanMs)} ${before}`,
  ].filter(Boolean);
  return ['all that wait for somebody', ...words].join(', ');
}

function hours(ms: number): string {
  return `${ms / HOUR_MS} h`;
}
