import { channelByCode } from '../../domain/channels/channel.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { requestApproval } from '../../domain/staff/approvals.ts';
import {
  beginBulkReplay,
  bulkSubject,
  MAX_REPLAYS_ALONE,
  refuseWrongOrder,
} from '../../domain/support/bulk-replay.ts';
import { FAILED_JOB_STATES, type FailedJob } from '../../domain/support/failed-job-store.ts';
import { STOP_AFTER_FAILED_AGAIN } from '../../domain/support/work-bulk-replays.ts';
import { counted } from '../../domain/text.ts';
import { auditedBy, recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Choice } from '../shell/fields.tsx';
import { AgeFilter, ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { MerchantLink, PaymentLink, Time } from '../shell/links.tsx';
import { NotPossible, WhatWillHappen } from '../shell/operation.tsx';
import { givenReason, ReasonForm } from '../shell/reason-form.tsx';
import { type Column, Empty, type ListPage, NextPage, Table } from '../shell/table.tsx';
import { VEILED } from '../shell/veil.ts';
import type { Answer, Visit } from '../visit.ts';
import {
  countsOf,
  DEFAULT_RATE,
  filterWords,
  isReplay,
  MAX_COUNTED,
  outcomeWords,
  type Plan,
  planOf,
  readFailedJobs,
  STATE_WORDS,
  stateIn,
} from './failed-job-filter.ts';

/** Jobs that have failed for good, and their replay. */
export const failedJobHandlers = {
  failedJobs: async (visit: Visit): Promise<Answer> => {
    const page = await readFailedJobs(visit);
    return { page: <FailedJobs visit={visit} page={page} />, title: 'Failed jobs' };
  },

  bulkReplayForm: async (visit: Visit): Promise<Answer> => form(visit, visit.query),

  beginBulkReplay: async (visit: Visit): Promise<Answer> => {
    try {
      const reason = givenReason(visit);
      const plan = await planOf(visit, visit.form);
      return { goTo: await begin(visit, plan, reason) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, visit.form, error);
    }
  },
};

/** Begins a replay, or asks for a second person. @returns the page that shows what comes of it */
async function begin(visit: Visit, plan: Plan, reason: string): Promise<string> {
  const { order } = plan;
  const { email: requested_by } = visit.member;
  const by = (action: string) => auditedBy(visit, 'beginBulkReplay', { action, reason });
  if (!plan.needsSecond) {
    const alone = { requested_by, reason, approved_by: null };
    await by('jobs.replay')((trx) => beginBulkReplay(trx, order, alone));
    return pathTo('bulkReplay', { id: order.id });
  }
  refuseWrongOrder(order);
  const { id } = await requestApproval(by('approval.request'), {
    action: 'jobs.replay',
    subject: bulkSubject(order.id),
    merchant_id: order.filter.merchant_id ?? null,
    amount_cents: null,
    payload: order,
    preview: linesOf(plan).join('\n'),
    requested_by,
    reason,
  });
  return pathTo('approval', { id });
}

async function form(
  visit: Visit,
  given: Readonly<Record<string, string>>,
  refusal?: OperatorRefusal,
): Promise<Answer> {
  const plan = await planOrProblem(visit, given);
  const title = 'Replay failed jobs';
  const page =
    'problem' in plan ? (
      <>
        <h1>{title}</h1>
        <NotPossible why={plan.problem} back={pathTo('failedJobs')} />
      </>
    ) : (
      <PlanForm visit={visit} plan={plan} problem={refusal?.message} />
    );
  const isRefused = refusal !== undefined || 'problem' in plan;
  return { page, title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

async function planOrProblem(
  visit: Visit,
  given: Readonly<Record<string, string>>,
): Promise<Plan | { problem: string }> {
  try {
    const plan = await planOf(visit, given);
    await recordView(visit, {
      action: 'jobs.preview',
      subject: 'jobs',
      rows: plan.count,
      merchant_id: plan.order.filter.merchant_id ?? null,
      lookedFor: { ...plan.order.filter },
    });
    return plan;
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    return { problem: error.message };
  }
}

interface FailedJobsProps {
  visit: Visit;
  page: ListPage<FailedJob, number>;
}

/** Jobs that have failed for good, and the way to replay them. */
function FailedJobs({ visit, page }: FailedJobsProps) {
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
      <PaymentLink payment={payment} ref_no={ref_no} />
    </>
  );
}

const RATES = [1, 5, 10, 20, 50, 100].map((rate) => [String(rate), `${rate} per second`] as const);

/** Says what a replay will do, line by line. */
function linesOf({ order, outcomes, count, hasMore, total }: Plan): string[] {
  const atLeast = total < MAX_COUNTED ? '' : 'At least ';
  const jobs = `${atLeast}${counted(total, 'failed job')}`;
  return [
    `${jobs}: ${VEILED.text(filterWords(order.filter))}.`,
    ...(hasMore ? [`Of the oldest ${count}:`] : []),
    ...countsOf(outcomes).map(({ outcome, count: each }) => `${each}: ${outcomeWords(outcome)}.`),
    `It replays ${order.rate} per second, the oldest first.`,
    `It stops when ${STOP_AFTER_FAILED_AGAIN} of them have failed again.`,
  ];
}

interface PlanFormProps {
  visit: Visit;
  plan: Plan;
  problem: string | undefined;
}

/** What a replay of many jobs will do, and the question why. */
function PlanForm({ visit, plan, problem }: PlanFormProps) {
  const { order, outcomes, count, hasMore, needsSecond, carried } = plan;
  const back = pathTo('failedJobs');
  const isPossible = hasMore || countsOf(outcomes).some(({ outcome }) => isReplay(outcome));
  const title = <h1>Replay failed jobs</h1>;
  if (!isPossible) {
    return (
      <>
        {title}
        <section class="card">
          <h2>{count === 0 ? 'No job matches' : 'None of them can be replayed'}</h2>
          <ul>
            {linesOf(plan).map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          <p>
            Nothing was changed. <a href={back}>Back to the failed jobs</a>
          </p>
        </section>
      </>
    );
  }
  return (
    <>
      {title}
      <ReasonForm
        visit={visit}
        back={back}
        problem={problem}
        action={pathTo('beginBulkReplay')}
        verb={needsSecond ? 'Ask for approval' : 'Replay'}
      >
        <WhatWillHappen lines={linesOf(plan)} />
        <p class="soft">
          The next step of each is decided anew when its turn comes, so the counts may differ then.
        </p>
        {needsSecond && (
          <p class="warning">
            More than {MAX_REPLAYS_ALONE} jobs: somebody else must approve it. Nothing happens
            before.
          </p>
        )}
        {carried.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Choice
          name="rate"
          label="Rate"
          choices={RATES}
          value={String(order.rate || DEFAULT_RATE)}
        />
      </ReasonForm>
    </>
  );
}
