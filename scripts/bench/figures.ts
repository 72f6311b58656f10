import type { LoadResult } from './load/order.ts';

/** One line of the report. Times are milliseconds, over the samples of all rounds together. */
export interface Figure {
  scenario: string;
  name: string;
  samples: number;
  /** Done per second, the mean of the rounds; null where they were asked for one by one. */
  perSecond: number | null;
  medianMs: number;
  /** Null where there are too few samples to say. */
  p95Ms: number | null;
  p99Ms: number | null;
  worstMs: number;
  /** CPU time of the web process for one request, in ms; null where it was not asked for. */
  webCpuMs: number | null;
  /** CPU time of all processes of the service and its stores for one, in ms; likewise. */
  totalCpuMs: number | null;
  errors: number;
  /** `perSecond` as a part of the scenario's reference; null where there is none. */
  ratio: number | null;
  /** How far the rounds are apart: (highest - lowest) / mean of `perSecond`, or of the median. */
  spread: number;
  /** What is slower than the scenario's limit; null without one, or when nothing is. */
  over: 'median' | 'worst' | null;
}

/** What a figure needs to know of one round. */
export type Round = Pick<LoadResult, 'latenciesMs' | 'elapsedMs' | 'errors'>;

/** The figure of work done at full speed, from its rounds. */
export function throughputFigure(scenario: string, name: string, rounds: readonly Round[]): Figure {
  const rates = rounds.map(perSecondOf);
  const sorted = sortedSamples(rounds);
  return {
    ...latencies(scenario, name, rounds, sorted),
    perSecond: mean(rates),
    p95Ms: percentile(sorted, 95),
    p99Ms: percentile(sorted, 99),
    spread: spreadOf(rates),
  };
}

/** The figure of a request made again and again, each after the answer to the one before. */
export function latencyFigure(
  scenario: string,
  name: string,
  rounds: readonly Round[],
  limitMs: number,
): Figure {
  const figure = latencies(scenario, name, rounds, sortedSamples(rounds));
  const medians = rounds.map((round) => percentile(sortedSamples([round]), 50));
  const overWorst = figure.worstMs > limitMs ? 'worst' : null;
  return {
    ...figure,
    spread: spreadOf(medians),
    over: figure.medianMs > limitMs ? 'median' : overWorst,
  };
}

/** The smallest sample that `percent` of the samples do not exceed; of none, NaN. */
export function percentile(sorted: readonly number[], percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

function latencies(
  scenario: string,
  name: string,
  rounds: readonly Round[],
  sorted: number[],
): Figure {
  return {
    scenario,
    name,
    samples: sorted.length,
    perSecond: null,
    medianMs: percentile(sorted, 50),
    p95Ms: null,
    p99Ms: null,
    worstMs: percentile(sorted, 100),
    webCpuMs: null,
    totalCpuMs: null,
    errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
    ratio: null,
    spread: 0,
    over: null,
  };
}

function perSecondOf({ latenciesMs, elapsedMs }: Round): number {
  return (latenciesMs.length / elapsedMs) * 1_000;
}

function sortedSamples(rounds: readonly Round[]): number[] {
  return rounds.flatMap(({ latenciesMs }) => latenciesMs).sort((one, other) => one - other);
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function spreadOf(values: number[]): number {
  return (Math.max(...values) - Math.min(...values)) / mean(values);
}
