import { percentile } from '../figures.ts';
import type { Sample } from './sample.ts';

/** The first part of the load, which is not judged: programs are compiled, pools and caches fill. */
export const WARM_UP_PART = 0.25;
/** How much more something may be at the end than at the beginning. */
const GROWTH_PART = 0.1;
/** And so much on top, where ten per cent of little is nothing. */
const SLACK = { redisMib: 1, handles: 10, connections: 5, outboxRows: 20 };
/** So many seconds' worth of payments on top, likewise. */
const BACKLOG_SLACK_S = 2;
/** Longer than that no row of the outbox is due at any time. */
const OUTBOX_MAX_AGE_MS = 5_000;
/** Fewer in a third have no median worth the name. */
const MIN_SAMPLES = 4;

/** Something that must not grow, at the beginning and at the end: medians of a third each. */
export interface Trend {
  name: string;
  unit: 'MiB' | '';
  first: number;
  last: number;
  grows: boolean;
}

export interface Verdict {
  trends: Trend[];
  /** One line each; none: the service can go on like this. */
  problems: string[];
}

/**
 * Says whether anything grows that must not. What comes after the warm-up is cut into
 * thirds; the median of the last third may be a tenth above the median of the first.
 * @param perSecond the payments that were offered.
 */
export function judge(samples: readonly Sample[], perSecond: number): Verdict {
  const durationMs = samples.at(-1)?.atMs ?? 0;
  const judged = samples.filter(({ atMs }) => atMs >= durationMs * WARM_UP_PART);
  const third = Math.floor(judged.length / 3);
  if (third < MIN_SAMPLES) return { trends: [], problems: ['it was too short to judge'] };
  const [first, last] = [judged.slice(0, third), judged.slice(-third)];
  const trends = measuresOf(judged[0]!, perSecond).map(({ name, unit, slack, read }) => {
    const [before, after] = [medianOf(first.map(read)), medianOf(last.map(read))];
    const grows = after > before * (1 + GROWTH_PART) + slack;
    return { name, unit, first: before, last: after, grows };
  });
  const growing = trends.filter(({ grows }) => grows).map((trend) => `${lineOf(trend)} grows`);
  const oldestMs = Math.max(...judged.map(({ outboxOldestMs }) => outboxOldestMs));
  const late = `a row of the outbox was due for ${Math.round(oldestMs)} ms`;
  return { trends, problems: [...growing, ...(oldestMs > OUTBOX_MAX_AGE_MS ? [late] : [])] };
}

/** A trend for people. */
export function lineOf({ name, unit, first, last }: Trend): string {
  if (unit === '') return `${name}: ${first.toFixed(0)} to ${last.toFixed(0)}`;
  const percent = Math.round((last / first - 1) * 100);
  const sign = percent > 0 ? '+' : '';
  return `${name}: ${first.toFixed(1)} to ${last.toFixed(1)} ${unit} (${sign}${percent} %)`;
}

interface Measure {
  name: string;
  unit: Trend['unit'];
  slack: number;
  read: (sample: Sample) => number;
}

function measuresOf({ rssMib, redisMib }: Sample, perSecond: number): Measure[] {
  const backlog = perSecond * BACKLOG_SLACK_S;
  return [
    ...Object.keys(rssMib).map((process) => ({
      ...({ name: `memory of ${process}`, unit: 'MiB', slack: 0 } as const),
      read: (sample: Sample) => sample.rssMib[process]!,
    })),
    ...Object.keys(rssMib).map((process) => ({
      ...({ name: `open files of ${process}`, unit: '', slack: SLACK.handles } as const),
      read: (sample: Sample) => sample.handles[process]!,
    })),
    ...(redisMib === null
      ? []
      : [plain('memory used in Redis', 'MiB', SLACK.redisMib, ({ redisMib }) => redisMib!)]),
    plain('connections to PostgreSQL', '', SLACK.connections, ({ connections }) => connections),
    plain('rows of the outbox', '', SLACK.outboxRows, ({ outboxRows }) => outboxRows),
    plain('open payments', '', backlog, ({ openPayments }) => openPayments),
    plain('events not delivered', '', backlog, ({ undelivered }) => undelivered),
  ];
}

function plain(name: string, unit: Trend['unit'], slack: number, read: Measure['read']): Measure {
  return { name, unit, slack, read };
}

function medianOf(values: number[]): number {
  return percentile(
    values.toSorted((one, other) => one - other),
    50,
  );
}
