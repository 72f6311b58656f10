import type { RouteName } from '../../src/console/routes.ts';
import { DAY_MS } from '../../src/time.ts';
import { type ConsoleVisitor, visitConsole } from '../sandbox/console-visitor.ts';
import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { findFreePort } from '../sandbox/processes/port.ts';
import { seedStaff } from '../sandbox/seed-staff.ts';
import { consoleCases } from './console-addresses.ts';
import { startCpuCount } from './cpu-time.ts';
import { runTasks } from './load.ts';
import { BenchError } from './options.ts';
import { createMerchants } from './payments.ts';
import { measureInRounds, say } from './report.ts';
import { fillBySql } from './seed-by-sql.ts';
import { type Service, type Stage, startService } from './stage.ts';

const MERCHANTS_COUNT = 200;
/** What people wait for without thinking of waiting. */
const PAGE_LIMIT_MS = 300;
const TIMELINE_LIMIT_MS = 100;
const TIMELINES: readonly RouteName[] = ['payment', 'paymentLive'];
/** In each of two rounds. */
const REPEATS_COUNT = 20;
const WARM_UPS_COUNT = 2;
/** What an open overview asks for in a minute, as its `hx-trigger` says. */
const PER_MINUTE = { '/overview/figures': 6, '/overview/queues': 6, '/overview/outcomes': 1 };
const MINUTES_COUNT = 5;

/** Measures how long each page of the console takes, asked for by one person, among many rows. */
export async function measureConsole(stage: Stage): Promise<void> {
  const { findings, options } = stage;
  // A page without an address is told before the long seed.
  consoleCases({});
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const numbers = { rows: options.rows };
  const known = await fillBySql(stage, new URL('./console-seed.sql', import.meta.url), numbers);
  const { service, visitor, queues } = await openConsole(stage);
  const cases = consoleCases({ ...known, MONTH: dayAgo(30) });
  const figures = await measureInRounds(findings, cases, async ({ path }) => {
    const read = () => readPage(visitor, path);
    await runTasks(read, { concurrency: 1, count: WARM_UPS_COUNT });
    return runTasks(read, { concurrency: 1, count: REPEATS_COUNT });
  });
  for (const [index, figure] of figures.entries()) {
    const limitMs = TIMELINES.includes(cases[index]!.route) ? TIMELINE_LIMIT_MS : PAGE_LIMIT_MS;
    figure.perSecond = Number.NaN;
    if (figure.worstMs > limitMs) figure.tooSlow = 'worst';
    if (figure.medianMs > limitMs) figure.tooSlow = 'median';
    if (figure.p95Ms > limitMs) findings.problems.push(`${figure.name} is too slow`);
  }
  findings.notes.push(
    `among ${options.rows} payments of ${merchants.length} merchants, freshly vacuumed, queues in ${queues}; of 20 answers 19 may take ${PAGE_LIMIT_MS} ms at most, and ${TIMELINE_LIMIT_MS} ms for a payment's page; slow statements are in postgres.log`,
    await costOfOverview(service, visitor),
  );
}

async function openConsole(stage: Stage) {
  const { config, database } = stage;
  const staff = await seedStaff(database, config.secretsKeys);
  const CONSOLE_PORT = String(await findFreePort());
  const CONSOLE_URL = `http://127.0.0.1:${CONSOLE_PORT}`;
  const queues = findRedisServer() ? 'redis' : 'postgres';
  const env = { CONSOLE_PORT, CONSOLE_URL };
  const service = await startService(stage, { types: ['console'], queues, env });
  return { service, queues, visitor: await visitConsole(CONSOLE_URL, staff) };
}

/** Reads what an open overview reads in some minutes, without the pauses. @returns what it costs */
async function costOfOverview(service: Service, visitor: ConsoleVisitor): Promise<string> {
  say('an open overview');
  const cpuSince = startCpuCount([...service.pids, ...service.storePids]);
  for (let minute = 1; minute <= MINUTES_COUNT; minute += 1) {
    for (const [path, count] of Object.entries(PER_MINUTE)) {
      for (let time = 1; time <= count; time += 1) await readPage(visitor, path);
    }
  }
  const shares = [...cpuSince()].map(
    ([name, ms]) => `${name} ${Math.round(ms / MINUTES_COUNT)} ms`,
  );
  return `CPU time of an open overview in a minute: ${shares.join(', ')}`;
}

/** A search that finds one thing leads to it. */
async function readPage(visitor: ConsoleVisitor, path: string): Promise<void> {
  const answer = await visitor.read(path);
  await answer.text();
  if (answer.status >= 400) throw new BenchError(`HTTP status ${answer.status}`);
}

function dayAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}
