import { channelByCode } from '../../domain/channels/channel.ts';
import { FAILED_JOB_STATES, type FailedJob } from '../../domain/support/failed-job-store.ts';
import { mayUse, pathTo } from '../routes.ts';
import { AgeFilter, ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { MerchantLink } from '../shell/merchant-link.tsx';
import { PaymentLink } from '../shell/payment-link.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import { VEILED } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';
import { stateIn } from './query.ts';
import { STATE_WORDS } from './words.ts';

interface FailedJobsProps {
  visit: Visit;
  page: ListPage<FailedJob, number>;
}

/** Jobs that have failed for good, and the way to replay them. */
export function FailedJobs({ visit, page }: FailedJobsProps) {
  const { query, member } = visit;
  const path = pathTo('failedJobs');
  const mayReplay = mayUse(member.role, 'beginBulkReplay') && stateIn(query) === 'waiting';
  return (
    <>
      <h1>Failed jobs</h1>
      <p>
        <a href={pathTo('bulkReplays')}>Replays of many jobs</a>
      </p>
      <JobFilter visit={visit} />
      {page.rows.length === 0 ? (
        <Empty>No job has failed like this. Look again without a filter, or be glad.</Empty>
      ) : mayReplay ? (
        <Selection query={query} rows={page.rows} />
      ) : (
        <Table caption="Failed jobs" rows={page.rows} columns={COLUMNS} />
      )}
      <NextPage {...{ path, query, next: page.next }} />
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
        {...{ name: 'state', label: 'State', query, choices: [...states, ['all', 'all']] }}
        all={STATE_WORDS.waiting}
      />
      <TextFilter name="queue" label="Queue" query={query} />
      <TextFilter name="error" label="Error has" query={query} />
      <TextFilter name="merchant" label="Merchant" query={query} type="number" />
      <ChoiceFilter {...{ name: 'channel', label: 'Channel', query, choices: channels }} />
      <AgeFilter name="older" label="Older than" query={query} />
      <AgeFilter name="newer" label="Newer than" query={query} />
    </Filters>
  );
}

/** The list with a box for each job. The next page says what a replay would do. */
function Selection({ query, rows }: { query: Visit['query']; rows: FailedJob[] }) {
  const filter = Object.entries(query).filter(([name]) => name !== 'after' && name !== 'state');
  return (
    <form method="get" action={pathTo('bulkReplayForm')}>
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
      <PaymentLink {...{ payment, ref_no }} />
    </>
  );
}
