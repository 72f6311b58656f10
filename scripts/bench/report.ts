const ROUNDS_COUNT = 2;
/** So few samples have no high percentile worth the name. */
const FEW_SAMPLES_COUNT = 100;

/** The samples of one measurement. */
export interface Round {
  /** Of those that succeeded. */
  latenciesMs: number[];
  elapsedMs: number;
  errors: number;
  firstError: string | null;
  /** CPU time of the web process for one request. */
  webCpuMs?: number;
}

/** One line of the report. NaN, which is null in JSON: not measured. */
export type Figure = ReturnType<typeof figureOf>;

/** What a scenario has found so far. */
export interface Findings {
  figures: Figure[];
  /** What must be said with the figures, one line each. */
  notes: string[];
  /** Plans of statements, as PostgreSQL prints them. */
  plans: { name: string; text: string }[];
  /** Requests that failed, and what else is not as it must be. */
  problems: string[];
}

export interface Report extends Findings {
  machine: Record<string, string | number>;
}

/** Sums up the rounds of one measurement. Latencies are over the samples of all rounds. */
export function figureOf(name: string, rounds: readonly Round[]) {
  const samples = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  const rates = rounds.map(({ latenciesMs, elapsedMs }) => (latenciesMs.length / elapsedMs) * 1000);
  const isFew = samples.length < FEW_SAMPLES_COUNT;
  return {
    name,
    samples: samples.length,
    perSecond: mean(rates),
    medianMs: percentile(samples, 50),
    p95Ms: isFew ? Number.NaN : percentile(samples, 95),
    p99Ms: isFew ? Number.NaN : percentile(samples, 99),
    worstMs: percentile(samples, 100),
    webCpuMs: mean(rounds.map(({ webCpuMs }) => webCpuMs ?? Number.NaN)),
    /** CPU time of the service's processes and stores for one payment. */
    totalCpuMs: Number.NaN,
    errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
    /** `perSecond` as a part of the reference in the same run. */
    ratio: Number.NaN,
    /** How far the rates of the rounds are apart. */
    spread: (Math.max(...rates) - Math.min(...rates)) / mean(rates),
    /** Says whether the median, or only the worst sample, is above the limit. */
    tooSlow: '' as 'median' | 'worst' | '',
  };
}

/**
 * Measures each case twice, all others in between: a busy neighbour shows as spread.
 * @returns the figures of the cases, which it has added to the findings
 */
export async function measureInRounds<Case extends { name: string }>(
  { figures, problems }: Findings,
  cases: readonly Case[],
  measure: (one: Case) => Promise<Round>,
): Promise<Figure[]> {
  const rounds = cases.map((): Round[] => []);
  for (let number = 1; number <= ROUNDS_COUNT; number += 1) {
    for (const [index, one] of cases.entries()) {
      say(`round ${number} of ${ROUNDS_COUNT}: ${one.name}`);
      const round = await measure(one);
      if (round.firstError) problems.push(`${one.name}: ${round.firstError}`);
      rounds[index]!.push(round);
    }
  }
  const found = cases.map(({ name }, index) => figureOf(name, rounds[index]!));
  figures.push(...found);
  return found;
}

/** The smallest value that `percent` of the values do not exceed; of none, NaN. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1] ?? Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Tells on standard error how far the run is. */
export function say(line: string): void {
  console.error(`  ${line}`);
}

/** Writes the report for people: the machine, one table, and what must be said with it. */
export function textOf({ machine, figures, notes, plans }: Report): string {
  const machineLine = Object.entries(machine).map(([name, value]) => `${name} ${shown(value)}`);
  const plansText = plans.flatMap(({ name, text }) => ['', `-- ${name}`, text]);
  return [machineLine.join(', '), '', ...tableOf(figures), '', ...notes, ...plansText].join('\n');
}

/** Text stands on the left of its column, numbers on the right. */
function tableOf(rows: readonly Record<string, string | number>[]): string[] {
  const titles = Object.keys(rows[0] ?? {});
  const lines = [titles, ...rows.map((row) => titles.map((title) => shown(row[title]!)))];
  const widths = titles.map((_, index) => Math.max(...lines.map((cells) => cells[index]!.length)));
  const padded = (cell: string, index: number) =>
    typeof rows[0]![titles[index]!] === 'string'
      ? cell.padEnd(widths[index]!)
      : cell.padStart(widths[index]!);
  return lines.map((cells) => cells.map(padded).join('  ').trimEnd());
}

/** Leaves out digits that say nothing. */
function shown(value: string | number): string {
  if (typeof value === 'string' || Number.isInteger(value)) return String(value);
  if (Number.isNaN(value)) return '';
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}
