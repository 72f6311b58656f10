const ROUNDS_COUNT = 2;
/** Fewer samples have no such percentile worth the name. */
const MIN_SAMPLES_COUNTS = { p95: 40, p99: 100 };

export interface Round {
  /** Latencies of the requests that succeeded. */
  latenciesMs: number[];
  elapsedMs: number;
  errors: string[];
  /** CPU time of the service for one request or payment. */
  cpuMs?: number;
}

/** One line of the report. NaN, which is null in JSON: not measured. */
export type Figure = ReturnType<typeof figureOf>;

export interface Findings {
  figures: Figure[];
  notes: string[];
  /** Requests that failed, and all else that went wrong. */
  problems: string[];
}

/** Sums up the rounds of one measurement. Latencies are over the samples of all rounds. */
export function figureOf(name: string, ...rounds: Round[]) {
  const samples = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  const rates = rounds.map(({ latenciesMs, elapsedMs }) => (latenciesMs.length / elapsedMs) * 1000);
  return {
    name,
    samples: samples.length,
    perSecond: mean(rates),
    medianMs: percentile(samples, 50),
    p95Ms: samples.length < MIN_SAMPLES_COUNTS.p95 ? Number.NaN : percentile(samples, 95),
    p99Ms: samples.length < MIN_SAMPLES_COUNTS.p99 ? Number.NaN : percentile(samples, 99),
    worstMs: percentile(samples, 100),
    cpuMs: mean(rounds.map(({ cpuMs }) => cpuMs ?? Number.NaN)),
    errors: rounds.flatMap(({ errors }) => errors).length,
    /** `perSecond` as a part of the reference in the same run. */
    ratio: Number.NaN,
    /** The spread of the rates of the rounds. */
    spread: (Math.max(...rates) - Math.min(...rates)) / mean(rates),
    /** Says whether the median, or only the worst sample, is above the limit. */
    tooSlow: '' as 'median' | 'worst' | '',
  };
}

/** Measures each case twice, all others in between: a busy neighbour shows as spread. */
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
      if (round.errors[0]) problems.push(`${one.name}: ${round.errors[0]}`);
      rounds[index]!.push(round);
    }
  }
  const found = cases.map(({ name }, index) => figureOf(name, ...rounds[index]!));
  figures.push(...found);
  return found;
}

/** Returns the smallest value that `percent` of the values do not exceed; of none, NaN. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1] ?? Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function say(line: string): void {
  console.error(`  ${line}`);
}

/** Writes the report for people: the machine, one table, and the notes. */
export function textOf(machine: Record<string, string | number>, { figures, notes }: Findings) {
  const machineLine = Object.entries(machine).map(([name, value]) => `${name} ${shown(value)}`);
  return [machineLine.join(', '), '', ...tableOf(figures), '', ...notes].join('\n');
}

function tableOf(rows: readonly Record<string, string | number>[]): string[] {
  const titles = Object.keys(rows[0] ?? {});
  const lines = [titles, ...rows.map((row) => titles.map((title) => shown(row[title]!)))];
  const widths = titles.map((_, index) => Math.max(...lines.map((cells) => cells[index]!.length)));
  const padded = (cell: string, index: number) =>
    index < 2 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!);
  return lines.map((cells) => cells.map(padded).join('  '));
}

/** Leaves out digits that say nothing. */
function shown(value: string | number): string {
  if (typeof value === 'string' || Number.isInteger(value)) return String(value);
  if (Number.isNaN(value)) return '';
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}
