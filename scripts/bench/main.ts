import { mkdirSync, rmSync } from 'node:fs';
import { BootError } from '../../src/process/lifecycle.ts';
import { EmbeddedServiceError, explainError } from '../sandbox/embedded/embedded-service-error.ts';
import { type Reaper, startReaper } from '../sandbox/embedded/reaper.ts';
import { BenchError } from './bench-error.ts';
import { type BenchOptions, readOptions } from './options.ts';
import { jsonOf, type Report, textOf } from './report.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { LOG_FOLDER, onStage } from './stage.ts';

const FAILED_STATUS = 1;
/** What a shell gives a program that Ctrl-C ended. */
const INTERRUPTED_STATUS = 130;

/**
 * Measures what the command line asks for and prints the report on standard output; how far
 * it is goes to standard error.
 * @returns the exit status: 0 when everything was measured and nothing failed.
 */
export async function runBench(args: string[]): Promise<number> {
  const interruption = new AbortController();
  abortOnSignals(interruption);
  try {
    const names = scenarios.map(({ name }) => name);
    const options = readOptions(args, names);
    const { report, problem } = await measure(options, interruption.signal);
    console.log(options.json ? jsonOf(report) : textOf(report));
    if (problem !== null) throw new BenchError(problem);
    return 0;
  } catch (error) {
    const isInterrupted = interruption.signal.aborted;
    console.error(isInterrupted ? 'Stopped.' : problemOf(error));
    return isInterrupted ? INTERRUPTED_STATUS : FAILED_STATUS;
  }
}

/** The first signal ends the run in order; a second one exits at once, and the reaper tidies up. */
function abortOnSignals(interruption: AbortController): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      interruption.abort();
      process.once(signal, () => process.exit(FAILED_STATUS));
    });
  }
}

async function measure(options: BenchOptions, signal: AbortSignal) {
  prepareFolder();
  const reaper = await startReaper();
  try {
    return await measureAll(options, signal, reaper);
  } finally {
    await reaper.close();
  }
}

async function measureAll(options: BenchOptions, signal: AbortSignal, reaper: Reaper) {
  const report: Omit<Report, 'machine'> = { figures: [], notes: [], plans: [] };
  let machine: Report['machine'] | undefined;
  let problem: string | null = null;
  for (const scenario of chosen(options)) {
    say(`${scenario.title}: starting database, web process and load generator`);
    await onStage({ reaper, signal, redis: scenario.redis ?? false }, async (stage) => {
      machine ??= stage.machine;
      const result = await scenario.run({
        stage,
        options,
        say: (line) => say(`  ${line}`),
      });
      report.figures.push(...result.figures);
      report.notes.push(...result.notes.map((note) => `${scenario.name}: ${note}`));
      report.plans.push(...(result.plans ?? []));
      if (result.firstError !== null) {
        problem ??= `Not all of ${scenario.name} went right: ${result.firstError}`;
      }
    });
  }
  return { report: { machine: machine!, ...report }, problem: problem as string | null };
}

function chosen({ names }: BenchOptions): Scenario[] {
  return scenarios.filter(({ name, onlyByName }) =>
    names.length === 0 ? !onlyByName : names.includes(name),
  );
}

function prepareFolder(): void {
  try {
    rmSync(LOG_FOLDER, { recursive: true, force: true });
    mkdirSync(LOG_FOLDER, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainError(error, 'The folder of the bench cannot be written', LOG_FOLDER);
  }
}

function problemOf(error: unknown): string {
  const isExpected =
    error instanceof BenchError ||
    error instanceof EmbeddedServiceError ||
    error instanceof BootError ||
    (error as Error).name === 'ConfigError';
  return isExpected ? (error as Error).message : String((error as Error).stack);
}

function say(line: string): void {
  console.error(line);
}
