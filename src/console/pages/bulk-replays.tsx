import { OperatorRefusal } from '../../domain/errors.ts';
import {
  type BulkReplay,
  bulkSubject,
  findBulkReplay,
  isWorkedOn,
  listBulkReplays,
  lookedAt,
} from '../../domain/support/bulk-replay.ts';
import { VEILED } from '../../domain/veil.ts';
import { stopReplay } from '../../operations/job.ts';
import { perform } from '../../operations/perform.ts';
import { countsOf, filterWords, isReplay, outcomeWords } from '../../operations/replay-words.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { nairobiTime, Time } from '../shell/links.tsx';
import { orderOf } from '../shell/operation.tsx';
import { idIn, uuidIn } from '../shell/read-fields.ts';
import { givenReason, ReasonForm } from '../shell/reason-form.tsx';
import { Badge, type Tone } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';

/** Replays of many failed jobs: their progress, and their end. */
export const bulkReplayHandlers = {
  bulkReplays: async (visit: Visit): Promise<Answer> => {
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listBulkReplays(visit.service.database, { after, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      action: 'jobs.list-replays',
      merchant_id: null,
      subject: 'bulk replay',
      lookedFor: {},
      rows: page.rows.length,
    });
    return { page: <BulkReplays page={page} />, title: 'Replays of many jobs' };
  },

  bulkReplay: async (visit: Visit): Promise<Answer> => {
    const bulk = await find(visit);
    await recordView(visit, {
      action: 'jobs.show-replay',
      merchant_id: bulk.filter.merchant_id ?? null,
      subject: bulkSubject(bulk.id),
      lookedFor: {},
      rows: 1,
    });
    return show(visit, bulk);
  },

  // The page around it has recorded the read.
  bulkReplayLive: async (visit: Visit): Promise<Answer> => {
    const bulk = await find(visit);
    return { part: <Progress bulk={bulk} isWaiting={await isWaiting(visit, bulk)} /> };
  },

  stopBulkReplay: async (visit: Visit): Promise<Answer> => {
    const bulk = await find(visit);
    try {
      await perform(stopReplay, { ...orderOf(visit, bulk, givenReason(visit)), values: {} });
      return { goTo: pathTo('bulkReplay', { id: bulk.id }) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return show(visit, await find(visit), error);
    }
  },
};

async function find({ service, params }: Visit): Promise<BulkReplay> {
  const found = await findBulkReplay(service.database, uuidIn(params, 'id'));
  if (!found) throw new ConsoleError(404, 'There is no such replay');
  return found;
}

async function show(visit: Visit, bulk: BulkReplay, refusal?: OperatorRefusal): Promise<Answer> {
  const props = { visit, bulk, isWaiting: await isWaiting(visit, bulk) };
  const page = <BulkReplayPage {...props} problem={refusal?.message} />;
  return { page, title: 'Replay of many jobs', ...(refusal && { status: 422, refusal }) };
}

/** Tells whether it should run and no process works on it. */
async function isWaiting({ service }: Visit, { id, state }: BulkReplay): Promise<boolean> {
  return state === 'running' && !(await isWorkedOn(service.database, id));
}

const TONES: Readonly<Record<BulkReplay['state'], Tone>> = {
  running: 'plain',
  done: 'good',
  stopped: 'warn',
};

/** Replays of many jobs, the newest first. */
function BulkReplays({ page }: { page: ListPage<BulkReplay, string> }) {
  const path = pathTo('bulkReplays');
  return (
    <>
      <h1>Replays of many jobs</h1>
      {page.rows.length === 0 ? (
        <Empty>
          Nobody has replayed jobs here yet. <a href={pathTo('failedJobs')}>See the failed jobs</a>.
        </Empty>
      ) : (
        <Table caption="Replays of many jobs" rows={page.rows} columns={COLUMNS} />
      )}
      <NextPage path={path} next={page.next} />
    </>
  );
}

const COLUMNS: readonly Column<BulkReplay>[] = [
  { heading: 'Begun', cell: ({ requested_at }) => <Time at={requested_at} /> },
  {
    heading: 'Jobs',
    cell: ({ id, filter }) => (
      <a href={pathTo('bulkReplay', { id })}>{VEILED.text(filterWords(filter, nairobiTime))}</a>
    ),
  },
  { heading: 'By', cell: ({ requested_by }) => requested_by },
  { heading: 'State', cell: ({ state }) => <Badge tone={TONES[state]} words={state} /> },
  { heading: 'Looked at', isNumber: true, cell: (bulk) => lookedAt(bulk) },
];

interface BulkReplayPageProps {
  visit: Visit;
  bulk: BulkReplay;
  /** It should run, and no process works on it. */
  isWaiting: boolean;
  problem: string | undefined;
}

/** One replay of many jobs: how far it is, and the way to stop it. */
function BulkReplayPage({ visit, bulk, isWaiting, problem }: BulkReplayPageProps) {
  const { id, filter, rate, requested_by, approved_by, reason, requested_at, state } = bulk;
  const mayStop = state === 'running' && mayUse(visit.member.role, 'stopBulkReplay');
  return (
    <>
      <h1>Replay of many jobs</h1>
      <section class="card">
        <dl>
          <dt>Jobs</dt>
          <dd>{VEILED.text(filterWords(filter, nairobiTime))}</dd>
          <dt>Begun</dt>
          <dd>
            <Time at={requested_at} /> by {requested_by}
            {approved_by && `, approved by ${approved_by}`}
          </dd>
          <dt>Reason</dt>
          <dd>{VEILED.text(reason)}</dd>
          <dt>Rate</dt>
          <dd>{rate} per second</dd>
        </dl>
      </section>
      <h2>Progress</h2>
      <Progress bulk={bulk} isWaiting={isWaiting} />
      <p>
        <a href={`${pathTo('failedJobs')}?${new URLSearchParams({ bulk: id })}`}>
          The jobs that it has replayed
        </a>
      </p>
      {(mayStop || problem) && (
        <ReasonForm
          visit={visit}
          problem={problem}
          back={pathTo('bulkReplays')}
          action={pathTo('stopBulkReplay', { id })}
          verb="Stop"
        >
          <h2>{stopReplay.title}</h2>
          <p>Nothing more is replayed. What is done stays done.</p>
        </ReasonForm>
      )}
    </>
  );
}

/** The part that refreshes itself until the replay has ended. */
function Progress({ bulk, isWaiting }: { bulk: BulkReplay; isWaiting: boolean }) {
  const { id, state, why, ended_at, outcomes } = bulk;
  const counts = countsOf(outcomes);
  const sum = (wanted: boolean) =>
    counts
      .filter(({ outcome }) => isReplay(outcome) === wanted)
      .reduce((total, { count }) => total + count, 0);
  const live = {
    'hx-get': pathTo('bulkReplayLive', { id }),
    'hx-trigger': 'every 1s',
    'hx-swap': 'outerHTML',
  };
  return (
    <section class="card" id="progress" aria-live="polite" {...(state === 'running' ? live : {})}>
      <p>
        <Badge tone={TONES[state]} words={state} /> {sum(true)} replayed, {sum(false)} refused
        {ended_at && (
          <>
            , ended <Time at={ended_at} />
          </>
        )}
      </p>
      {why && <p class="warning">{VEILED.numbers(why)}.</p>}
      {isWaiting && (
        <p class="warning">No dispatcher works on it now. One goes on within a minute.</p>
      )}
      <ul>
        {counts.map(({ outcome, count }) => (
          <li>
            {count}: {outcomeWords(outcome)}
          </li>
        ))}
      </ul>
    </section>
  );
}
