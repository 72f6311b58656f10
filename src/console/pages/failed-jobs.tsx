import { type Database, databaseNow } from '../../connections/database.ts';
import { channelByCode } from '../../domain/channels/channel.ts';
import type { BulkReplay } from '../../domain/support/bulk-replay.ts';
import {
  FAILED_JOB_STATES,
  type FailedJob,
  type FailedJobFilter,
  type FailedJobState,
  listFailedJobs,
} from '../../domain/support/failed-job-store.ts';
import { VEILED } from '../../domain/veil.ts';
import { planReplays, type ReplayPlan, replayMany } from '../../operations/job.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { AgeFilter, ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { MerchantLink, PaymentLink, Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { ageIn, found, idIn, numberIn, textIn } from '../shell/read-fields.ts';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';

/** The jobs that a preview looks at. */
const MAX_FORESEEN = 1_000;
const JOB_FIELD = /^job(\d{1,15})$/;
const FILTERS = ['all', 'queue', 'error', 'merchant', 'channel', 'older', 'newer'];

/** The jobs that somebody has selected, or all that match the filters. */
const SELECTED: Resource<ReplayPlan> = {
  find: (visit) => planIn(visit.service.database, givenBy(visit)),
  recordView: (visit, { order: { filter }, replays }) =>
    recordView(visit, {
      action: 'jobs.preview',
      subject: 'jobs',
      rows: replays.length,
      merchant_id: filter.merchant_id ?? null,
      lookedFor: { ...filter },
    }),
  nameOf: () => 'Failed jobs',
  pathOf: () => pathTo('failedJobs'),
};

/** Jobs that have failed for good, and their replay. */
export const failedJobHandlers = {
  failedJobs: async (visit: Visit): Promise<Answer> => {
    const page = await readFailedJobs(visit);
    return { page: <FailedJobs visit={visit} page={page} />, title: 'Failed jobs' };
  },

  ...operationHandlers('bulkReplayBegin', {
    resource: SELECTED,
    pages: pagesOf([replayMany]),
    part: 'replay',
    carried: ({ order: { id, last_job, filter } }, visit) => [
      ...Object.entries(givenBy(visit)).filter(
        ([name]) => FILTERS.includes(name) || JOB_FIELD.test(name),
      ),
      ['id', id],
      ['last_job', String(last_job)],
      ['as_of', filter.as_of],
    ],
    madeAt: ({ row }) => pathTo('bulkReplay', { id: (row as BulkReplay).id }),
  }),
};

type Given = Visit['query'];

function givenBy({ query, form }: Visit): Given {
  return { ...query, ...form };
}

/** Plans the replay that an address or a form asks for. */
async function planIn(database: Database, given: Given): Promise<ReplayPlan> {
  const ids = Object.keys(given)
    .flatMap((name) => JOB_FIELD.exec(name)?.[1] ?? [])
    .map(Number);
  if (ids.length === 0 && !given.all) throw new ConsoleError(422, 'Select at least one job');
  const as_of = asOfIn(given, await databaseNow(database));
  const wanted = {
    id: idIn(given, 'id'),
    filter: given.all ? { ...filterIn(given), as_of } : { ids, as_of },
    last_job: numberIn(given, 'last_job'),
  };
  return found(planReplays(database, wanted, MAX_FORESEEN));
}

/** The moment of the preview. Nobody selects what is not there yet. */
function asOfIn({ as_of = '' }: Given, now: Date): string {
  const at = Date.parse(as_of);
  return new Date(Number.isNaN(at) ? now : Math.min(at, now.getTime())).toISOString();
}

/** Returns the state that the list shows: those that wait, unless the address says otherwise. */
function stateIn({ state, bulk }: Visit['query']): FailedJobState | undefined {
  const found = FAILED_JOB_STATES.find((each) => each === state);
  return found ?? (state === 'all' || bulk ? undefined : 'waiting');
}

/** Reads a page of failed jobs, newest first. */
async function readFailedJobs(visit: Visit): Promise<ListPage<FailedJob, number>> {
  const { service, query, member } = visit;
  const filter = {
    ...filterIn(query),
    state: stateIn(query),
    bulkReplay: idIn(query, 'bulk'),
  };
  // A member who may not reveal a word may not find it out, sign by sign, either.
  const maySeeAll = mayUse(member.role, 'paymentReveal');
  const { error, ...others } = filter;
  const sought = maySeeAll || error === undefined ? filter : { ...others, shownError: error };
  if (!maySeeAll && /\p{Nd}/u.test(error ?? '')) {
    throw new ConsoleError(422, 'Search errors by words: your role does not see their numbers');
  }
  const placed = { order: 'newest first', after: numberIn(query, 'after') } as const;
  const page = await listPage(
    (limit) => listFailedJobs(service.database, sought, { ...placed, limit }),
    ({ id }) => id,
  );
  await recordView(visit, {
    action: 'jobs.list',
    subject: 'jobs',
    rows: page.rows.length,
    merchant_id: filter.merchant_id ?? null,
    lookedFor: { ...filter, after: placed.after },
  });
  return page;
}

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

/** The states of failed jobs, as the list shows them. */
const STATE_WORDS: Readonly<Record<FailedJobState, string>> = {
  waiting: 'waits for somebody',
  replayed: 'replayed',
  failed_again: 'replayed, and failed again',
  moved_on: 'has moved on meanwhile',
};

interface FailedJobsProps {
  visit: Visit;
  page: ListPage<FailedJob, number>;
}

/** Jobs that have failed for good, and the way to replay them. */
function FailedJobs({ visit, page }: FailedJobsProps) {
  const { query, member } = visit;
  const path = pathTo('failedJobs');
  const mayReplay = mayUse(member.role, 'bulkReplayBegin') && stateIn(query) === 'waiting';
  return (
    <>
      <h1>Failed jobs</h1>
      <p>
        <a href={pathTo('bulkReplays')}>Replays of many jobs</a>
      </p>
      <JobFilter visit={visit} />
      {page.rows.length === 0 ? (
        <Empty>No failed job matches these filters.</Empty>
      ) : mayReplay ? (
        <Selection query={query} rows={page.rows} />
      ) : (
        <Table caption="Failed jobs" rows={page.rows} columns={COLUMNS} />
      )}
      <NextPage path={path} query={query} next={page.next} />
    </>
  );
}

function JobFilter({ visit: { query, service } }: { visit: Visit }) {
  const channels = [...service.channels.keys()].map((code) => {
    return [String(code), channelByCode(code)?.name ?? String(code)] as const;
  });
  const states = FAILED_JOB_STATES.filter((state) => state !== 'waiting').map((state) => {
    return [state, STATE_WORDS[state]] as const;
  });
  return (
    <Filters path={pathTo('failedJobs')}>
      <ChoiceFilter
        name="state"
        label="State"
        query={query}
        choices={[...states, ['all', 'all']]}
        all={STATE_WORDS.waiting}
      />
      <TextFilter name="queue" label="Queue" query={query} />
      <TextFilter name="error" label="Error has" query={query} />
      <TextFilter name="merchant" label="Merchant" query={query} type="number" />
      <ChoiceFilter name="channel" label="Channel" query={query} choices={channels} />
      <AgeFilter name="older" label="Older than" query={query} />
      <AgeFilter name="newer" label="Newer than" query={query} />
    </Filters>
  );
}

/** The list with a box for each job. The next page says what a replay would do. */
function Selection({ query, rows }: { query: Visit['query']; rows: FailedJob[] }) {
  const filter = Object.entries(query).filter(([name]) => name !== 'after' && name !== 'state');
  return (
    <form method="get" action={pathTo('bulkReplayBeginForm')}>
      {filter.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <p class="buttons">
        <button type="submit">Replay the selected …</button>
        <button type="submit" class="quiet" name="all" value="yes">
          Replay all that match …
        </button>
      </p>
      <Table caption="Failed jobs" rows={rows} columns={[BOX, ...COLUMNS]} />
    </form>
  );
}

const BOX: Column<FailedJob> = {
  heading: 'Select',
  cell: ({ id }) => <input type="checkbox" name={`job${id}`} aria-label={`Failed job ${id}`} />,
};

const COLUMNS: readonly Column<FailedJob>[] = [
  { heading: 'Failed', cell: ({ failed_at }) => <Time at={failed_at} /> },
  {
    heading: 'What',
    cell: (job) => (
      <>
        <Subject job={job} /> <span class="soft">({job.step})</span>
      </>
    ),
  },
  { heading: 'Queue', cell: ({ queue }) => queue },
  { heading: 'Merchant', cell: ({ merchant_id }) => <MerchantLink merchant_id={merchant_id} /> },
  // The words may be a gateway's, which may name a customer.
  { heading: 'Error', cell: ({ error }) => VEILED.text(error) },
  { heading: 'State', cell: ({ state }) => STATE_WORDS[state] },
];

/** Names what a job is about, and leads to its payment. */
function Subject({ job }: { job: FailedJob }) {
  const { kind, row_id, payment_kind, payment_id, merchant_id, ref_no } = job;
  if (payment_kind === null || payment_id === null) {
    return (
      <>
        {kind} {row_id}
      </>
    );
  }
  const payment = { kind: payment_kind, merchant_id, id: payment_id };
  return (
    <>
      {kind !== payment_kind && `${kind} of `}
      <PaymentLink payment={payment} ref_no={ref_no} />
    </>
  );
}
