import { mkdirSync, rmSync } from 'node:fs';
import { startReaper } from '../sandbox/processes/reaper.ts';
import { measureAcceptance } from './acceptance.ts';
import { measureAlone } from './alone.ts';
import { measureConsole } from './console.ts';
import { measureDay } from './day.ts';
import { measureDrain } from './drain.ts';
import { measureGrowth } from './growth.ts';
import { measureLists } from './lists.ts';
import { BenchError, readOptions } from './options.ts';
import { measureOutage } from './outage.ts';
import { measurePace } from './pace.ts';
import { type Findings, textOf } from './report.ts';
import { measureScale } from './scale.ts';
import { measureSoak } from './soak.ts';
import { describeMachine, LOG_FOLDER, openStage } from './stage.ts';
import { measureWebhooks } from './webhooks.ts';

const SCENARIOS = {
  acceptance: measureAcceptance,
  alone: measureAlone,
  drain: measureDrain,
  pace: measurePace,
  outage: measureOutage,
  scale: measureScale,
  growth: measureGrowth,
  soak: measureSoak,
  day: measureDay,
  lists: measureLists,
  webhooks: measureWebhooks,
  console: measureConsole,
};

/** The others take long. */
const USUAL = ['acceptance', 'alone', 'drain', 'pace', 'lists'];
const QUICK = ['acceptance', 'drain'];

try {
  await runBench();
  process.exit(0);
} catch (error) {
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  // A code comes from the system, or for an unknown option.
  const isExpected = code || /^(BenchError|EmbeddedServiceError|ConfigError)$/.test(name);
  console.error(isExpected ? message : stack);
  process.exit(1);
}

/** Runs the scenarios and prints the report. @throws BenchError when not all went right */
async function runBench(): Promise<void> {
  const options = readOptions(process.argv.slice(2), Object.keys(SCENARIOS));
  const names = options.names.length > 0 ? options.names : options.quick ? QUICK : USUAL;
  rmSync(LOG_FOLDER, { recursive: true, force: true });
  mkdirSync(LOG_FOLDER, { recursive: true, mode: 0o700 });
  const reaper = await startReaper();
  const report: Findings = { figures: [], notes: [], problems: [] };
  let machine = {};
  for (const [scenario, measure] of Object.entries(SCENARIOS)) {
    if (!names.includes(scenario)) continue;
    console.error(`${scenario}: starting the database`);
    const stage = await openStage(options, reaper);
    if (report.figures.length === 0) machine = await describeMachine(stage);
    await measure(stage);
    // After an error the reaper ends what runs, as at Ctrl-C.
    for (const stop of stage.stops.reverse()) await stop();
    const { figures, notes, problems } = stage.findings;
    report.figures.push(...figures.map((figure) => ({ scenario, ...figure })));
    report.notes.push(...notes.map((note) => `${scenario}: ${note}`));
    report.problems.push(...problems.map((problem) => `${scenario}: ${problem}`));
  }
  await reaper.close();
  console.log(
    options.json ? JSON.stringify({ machine, ...report }, null, 2) : textOf(machine, report),
  );
  if (report.problems.length === 0) return;
  throw new BenchError(`Not all went right: ${report.problems.join('; ')}`);
}
