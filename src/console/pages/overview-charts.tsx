import { h } from 'preact';
import { channelByCode } from '../../domain/channels/channel.ts';
import {
  SAMPLE_PER_SLOT,
  SLOT_MINUTES,
  SLOTS,
  type SlotOutcome,
} from '../../domain/settlement/lately.ts';
import { workerTypeOf } from '../../jobs/job-types.ts';
import { COUNT_MAX, type QueueStatus } from '../../jobs/queue-status.ts';
import { SECOND_MS } from '../../time.ts';
import { spanOf, Time } from '../shell/links.tsx';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';

const HOURS = (SLOTS * SLOT_MINUTES) / 60;
const SECONDS_PER_MINUTE = 60;
const PERCENT = 100;

/** Outcomes of payments in the last hours, by channel: two charts, and the same figures as a table. */
export function OutcomesPart({ outcomes }: { outcomes: SlotOutcome[] }) {
  return (
    <>
      <h2>The last {HOURS} hours</h2>
      <p class="soft">
        Of each half hour the newest {SAMPLE_PER_SLOT} payments that were sent to a gateway are
        looked at, so counts mean "at least".
      </p>
      {outcomes.length === 0 ? (
        <Empty>No payment was sent to a gateway. Whether channels are paused is above.</Empty>
      ) : (
        <>
          <div class="cards wide">
            <Chart title="Success rate in percent" outcomes={outcomes} figureOf={successRate} />
            <Chart title="Median seconds to the end" outcomes={outcomes} figureOf={medianSeconds} />
          </div>
          <details>
            <summary>The same as a table</summary>
            <Table
              rows={[...outcomes].reverse()}
              columns={OUTCOME_COLUMNS}
              caption="Outcomes by channel"
            />
          </details>
        </>
      )}
    </>
  );
}

type FigureOf = (outcome: SlotOutcome) => number | null;

/** The share of completed payments among ended ones. Null before the first one has ended. */
function successRate({ completed, failed }: SlotOutcome): number | null {
  const ended = completed + failed;
  return ended === 0 ? null : Math.round((completed / ended) * PERCENT);
}

const medianSeconds: FigureOf = ({ median_seconds: seconds }) =>
  seconds === null ? null : Math.round(seconds * 10) / 10;

interface ChartProps {
  title: string;
  outcomes: SlotOutcome[];
  figureOf: FigureOf;
}

/** The console's chart script draws what this element carries. */
function Chart({ title, outcomes, figureOf }: ChartProps) {
  const times = [...new Set(outcomes.map(({ starts_at }) => starts_at.getTime()))];
  const channels = [...new Set(outcomes.map(({ channel }) => channel))];
  const series = channels.map((channel) => ({
    label: nameOf(channel),
    values: times.map((time) => {
      const isMeant = (each: SlotOutcome) =>
        each.channel === channel && each.starts_at.getTime() === time;
      const outcome = outcomes.find(isMeant);
      return outcome ? figureOf(outcome) : null;
    }),
  }));
  const to = Math.ceil(Date.now() / SECOND_MS);
  const from = to - SLOTS * SLOT_MINUTES * SECONDS_PER_MINUTE;
  const data = JSON.stringify({ from, to, times: times.map((ms) => ms / SECOND_MS), series });
  return (
    <figure class="card">
      <figcaption>{title}</figcaption>
      {h('time-chart', { 'data-chart': data, 'aria-hidden': 'true' })}
    </figure>
  );
}

function nameOf(channel: number): string {
  return channelByCode(channel)?.name ?? String(channel);
}

const OUTCOME_COLUMNS: readonly Column<SlotOutcome>[] = [
  { heading: 'From', cell: ({ starts_at }) => <Time at={starts_at} /> },
  { heading: 'Channel', cell: ({ channel }) => nameOf(channel) },
  { heading: 'Sent', cell: ({ submitted }) => submitted, isNumber: true },
  { heading: 'Completed', cell: ({ completed }) => completed, isNumber: true },
  { heading: 'Failed', cell: ({ failed }) => failed, isNumber: true },
  {
    heading: 'Success',
    cell: (outcome) => (successRate(outcome) === null ? 'none ended' : `${successRate(outcome)} %`),
    isNumber: true,
  },
  {
    heading: 'Median to the end',
    cell: ({ median_seconds: seconds }) => (seconds === null ? null : spanOf(seconds)),
    isNumber: true,
  },
];

type Queue = QueueStatus['queues'][number];

/** The queues: waiting jobs and late steps. @param status is a sentence when the queues do not answer */
export function QueuesPart({ status }: { status: QueueStatus | string }) {
  if (typeof status === 'string') {
    return (
      <>
        <h2>Queues</h2>
        <p class="warning">{status}. Payments that were accepted are safe. They are asked again.</p>
      </>
    );
  }
  const { queues_in, queues, problems } = status;
  const store = queues_in === 'redis' ? 'Redis' : 'PostgreSQL';
  return (
    <>
      <h2>Queues in {store}</h2>
      {queues.some(({ waiting }) => waiting === null) && (
        <p class="warning">
          {store} does not answer for the queues, so this is only what the database tells. Payments
          that were accepted are safe: their jobs are sent when it is back.
        </p>
      )}
      {problems.map((line) => (
        <p class="warning">{line}.</p>
      ))}
      <Table rows={queues} columns={QUEUE_COLUMNS} caption="Queues by process type" />
      <Due status={status} />
    </>
  );
}

/** A queue that does not answer tells nothing. */
const known = (count: number | null) => count ?? 'not known';
const ageOf = (ms: number | null) => (ms === null ? null : spanOf(ms / 1_000));

const QUEUE_COLUMNS: readonly Column<Queue>[] = [
  { heading: 'Process type', cell: ({ queue }) => workerTypeOf(queue) ?? 'none' },
  {
    heading: 'Queue',
    cell: ({ queue, paused }) => (
      <>
        {queue} {paused && <Badge tone="bad" words="paused" />}
      </>
    ),
  },
  { heading: 'Waiting', cell: ({ waiting }) => known(waiting), isNumber: true },
  { heading: 'Oldest', cell: ({ oldest_waiting_ms }) => ageOf(oldest_waiting_ms), isNumber: true },
  { heading: 'Active', cell: ({ active }) => known(active), isNumber: true },
  { heading: 'Later', cell: ({ delayed }) => known(delayed), isNumber: true },
  {
    heading: 'Ended per minute',
    cell: ({ ended_last_minute: ended }) => known(ended),
    isNumber: true,
  },
  { heading: 'Workers', cell: ({ workers }) => known(workers), isNumber: true },
  {
    heading: 'Outbox',
    cell: ({ outbox, outbox_oldest_ms: ms }) => (ms ? `${outbox}, ${ageOf(ms)}` : outbox),
    isNumber: true,
  },
  { heading: 'Failed', cell: ({ failed_waiting }) => failed_waiting, isNumber: true },
];

/** Rows that are due and not in the outbox. Only the queues know whether each has its job. */
function Due({ status: { due, deliveries_waiting: deliveries } }: { status: QueueStatus }) {
  return (
    <>
      {due.length === 0 && <p class="good">No step is late.</p>}
      {due.map(({ kind, count, oldest_ms, sample }) => (
        <p>
          {countWords(count)} {kind} rows are due for {ageOf(oldest_ms)} or less.{' '}
          {lostWords(sample)}
        </p>
      ))}
      {deliveries.count > 0 && (
        <p>
          Webhooks that wait until their endpoint has a free slot: {countWords(deliveries.count)},
          the oldest for {ageOf(deliveries.oldest_ms)}.
        </p>
      )}
    </>
  );
}

function lostWords(sample: QueueStatus['due'][number]['sample']): string {
  if (sample.some(({ lost }) => lost === null)) return 'The queues do not say whether they know.';
  const lost = sample.filter((step) => step.lost).length;
  return `Without a job are ${lost} of the ${sample.length} that were looked for.`;
}

function countWords(count: number): string {
  return count < COUNT_MAX ? String(count) : `at least ${COUNT_MAX}`;
}
