import { h } from 'preact';
import { channelByCode } from '../../domain/channels/channel.ts';
import {
  SAMPLE_PER_SLOT,
  SLOT_MINUTES,
  SLOTS,
  type SlotOutcome,
} from '../../domain/settlement/outcomes-lately.ts';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { spanOf, Time } from '../shell/time.tsx';

const HOURS = (SLOTS * SLOT_MINUTES) / 60;
const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;
const PERCENT = 100;

/** How payments of the last hours have ended, by channel: two charts, and the same as a table. */
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
            <Chart title="Success rate in percent" {...{ outcomes, figureOf: successRate }} />
            <Chart title="Median seconds to the end" {...{ outcomes, figureOf: medianSeconds }} />
          </div>
          <details>
            <summary>The same as a table</summary>
            <Table rows={[...outcomes].reverse()} columns={COLUMNS} caption="Outcomes by channel" />
          </details>
        </>
      )}
    </>
  );
}

type FigureOf = (outcome: SlotOutcome) => number | null;

/** Of those that have ended. Null when none has. */
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
  const to = Math.ceil(Date.now() / MS_PER_SECOND);
  const from = to - SLOTS * SLOT_MINUTES * SECONDS_PER_MINUTE;
  const data = JSON.stringify({ from, to, times: times.map((ms) => ms / MS_PER_SECOND), series });
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

const COLUMNS: readonly Column<SlotOutcome>[] = [
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
