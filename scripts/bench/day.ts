import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { got } from 'got';
import { firstRow, rows } from '../../src/connections/database.ts';
import type { QuirkRates } from '../daraja-simulator/quirks.ts';
import { darajaSettings } from '../daraja-simulator/service-settings.ts';
import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { findFreePort } from '../sandbox/processes/port.ts';
import { ROOT_FOLDER } from '../sandbox/programs.ts';
import { STACK_TYPES } from '../sandbox/stack.ts';
import { deliveryOf, proveBooks } from './backlog.ts';
import { checkDay, OPEN } from './day-check.ts';
import { type Paid, playPayments } from './day-payments.ts';
import { arrivalsOf, paidAfter } from './day-shape.ts';
import { figureOf, say } from './report.ts';
import { type Stage, startService } from './stage.ts';

const PAYMENTS_COUNT = 10_000;
const QUICK_PAYMENTS_COUNT = 600;
const DAY_MS = 360_000;
const QUICK_DAY_MS = 30_000;
/** After the last payment everything comes to rest within this. */
const REST_MS = 180_000;
const LOOK_INTERVAL_MS = 1_000;
const LOOKS_PER_LINE_COUNT = 15;
/** A prompt is overdue after this, and a statement may rule it out. */
const DEADLINE_MS = 90_000;
const MPESA = '63902';

/** Waits of a real day, shortened, but longer than the simulator takes. */
const SHORTENED = {
  SIMULATOR_DELAY_MS: '500',
  SIMULATOR_SLOW_SUCCESS_MS: '8000',
  POLL_FIRST_MS: '3000',
  GATEWAY_TIMEOUT_MS: '2000',
  REVERSAL_WAIT_MS: '2000',
  COLLECTION_DEADLINE_MS: String(DEADLINE_MS),
};

/** The faults of the whole day. Nobody has published rates. People complain most of callbacks. */
const QUIRKS: QuirkRates = {
  callbackLost: 0.015,
  callbackDoubled: 0.01,
  queryFlap: 0.2,
  subscriberLocked: 0.003,
  slowAnswer: 0.002,
  htmlPage: 0.001,
  unavailable: 0.001,
  firewall: 0.000_5,
  resetAfterTaking: 0.001,
  resetBeforeTaking: 0.001,
  tokenExpired: 0.000_1,
  tokenRefused: 0.01,
  spikeArrest: 0.000_5,
};
/** Bursts in which Daraja turns much away, at these parts of the day. */
const BURSTS_AT = [0.4, 0.53, 0.76];
const BURST_PART = 0.007;
const BURST_RATE = 0.3;

/**
 * Plays a shop's day with M-PESA through the Daraja driver, on a compressed clock, and reconciles
 * it. Every payment must end right, unless nobody can know how it has ended.
 */
export async function measureDay(stage: Stage): Promise<void> {
  const { options, findings } = stage;
  const count = options.dayPayments ?? (options.quick ? QUICK_PAYMENTS_COUNT : PAYMENTS_COUNT);
  const dayMs = options.quick ? QUICK_DAY_MS : DAY_MS;
  const port = String(await findFreePort());
  const simulatorUrl = `http://127.0.0.1:${port}`;
  const seeded = { DARAJA_SIMULATOR_SEED: String(options.seed) };
  const own = { ...SHORTENED, CHANNELS: `${MPESA}=daraja`, ...seeded, DARAJA_SIMULATOR_PORT: port };
  const env = { ...darajaSettings(simulatorUrl), ...own };
  const types = STACK_TYPES.filter((type) => type !== 'simulator');
  const queues = findRedisServer() ? 'redis' : 'postgres';
  findings.notes.push(`--seed ${options.seed}`);
  say(`seed ${options.seed}: ${count} payments in ${dayMs / 1_000} s, queues in ${queues}`);
  const { redisUrl } = await startService(stage, { types, queues, env });
  const from = new Date();
  await setQuirks(simulatorUrl, QUIRKS);
  const paid = new Map<string, Paid>();
  const bursts = playBursts(simulatorUrl, dayMs);
  await playPayments(stage, arrivalsOf(count, dayMs), paid);
  await bursts;
  const restedMs = await comeToRest(stage, true);
  await setQuirks(simulatorUrl, {});
  findings.notes.push(`at rest ${Math.round(restedMs / 1_000)} s after the last payment`);
  // A statement rules out only what lies before one of its payments, so the next day begins first.
  await playPayments(stage, [0], paid, paidAfter(options.seed, count));
  await comeToRest(stage, true);
  await reconcileDay(stage, { ...env, REDIS_URL: redisUrl }, from);
  // The statement has told receipts, for which reversals were waiting.
  await comeToRest(stage, false);
  await told(stage);
  report(stage, paid);
  await checkDay(stage, simulatorUrl, paid);
  await proveBooks(stage);
}

/** Takes a connection of its own: the simulator may just be closing one that was kept. */
async function setQuirks(url: string, quirks: QuirkRates): Promise<void> {
  await got.post(`${url}/faults`, { json: { quirks } });
}

async function playBursts(url: string, dayMs: number): Promise<void> {
  const startedAt = performance.now();
  for (const part of BURSTS_AT) {
    await sleep(startedAt + part * dayMs - performance.now());
    await setQuirks(url, { ...QUIRKS, spikeArrest: BURST_RATE });
    await sleep(BURST_PART * dayMs);
    await setQuirks(url, QUIRKS);
  }
}

/**
 * Waits until only that is open of which the service will hear no more.
 * @param mayAwaitReceipts says whether reversals may wait for what a statement will tell
 * @returns how long it took
 */
async function comeToRest({ database }: Stage, mayAwaitReceipts: boolean): Promise<number> {
  const startedAt = performance.now();
  for (let looks = 1; performance.now() < startedAt + REST_MS; looks += 1) {
    const [open] = await rows<{ open: number; silent: number; tooEarly: number }>(
      database,
      `SELECT count(*) FILTER (WHERE next_step IS NOT NULL) AS open,
         count(*) FILTER (WHERE awaits_receipt AND :mayAwaitReceipts OR next_step = 'poll' AND status = 'pending'
           AND external_ref IS NULL AND created_at < now() - interval '40 seconds') AS silent,
         count(*) FILTER (WHERE kind = 'collection' AND next_step IS NOT NULL
           AND deadline_at > now() - interval '35 seconds') AS "tooEarly"
       FROM (${OPEN}) p`,
      { mayAwaitReceipts },
    );
    if (open!.open === open!.silent && open!.tooEarly === 0) break;
    if (looks % LOOKS_PER_LINE_COUNT === 0) say(`${open!.open} open, ${open!.silent} silent`);
    await sleep(LOOK_INTERVAL_MS);
  }
  return performance.now() - startedAt;
}

/** Has the command line pull the day's statement and hold it against the books. */
async function reconcileDay(
  { findings, env }: Stage,
  own: NodeJS.ProcessEnv,
  from: Date,
): Promise<void> {
  say('reconciling the day');
  const day = (time: Date) => time.toISOString().slice(0, 'YYYY-MM-DD'.length);
  const args = ['bin/malipo', 'reconcile', MPESA, '--from', day(from), '--to', day(new Date())];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...args, '--reason', 'the day is over', '--json'],
    { cwd: ROOT_FOLDER, env: { ...env, ...own, MALIPO_ACTOR: 'bench' } },
  ).catch((error: { stdout: string; stderr: string }) => {
    findings.problems.push(`reconcile: ${error.stderr.slice(0, 500)}`);
    return { stdout: error.stdout };
  });
  findings.notes.push(`reconcile: ${stdout.replace(/\s+/g, ' ').slice(0, 300)}`);
}

/** Waits until every event was delivered. */
async function told({ database, findings }: Stage): Promise<void> {
  const giveUpAt = performance.now() + REST_MS;
  for (;;) {
    const row = await firstRow<{ count: number }>(
      database,
      `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered')
         + (SELECT count(*) FROM events WHERE sequence IS NULL) AS count`,
    );
    if (row!.count === 0) return;
    if (performance.now() > giveUpAt) {
      findings.problems.push(`${row!.count} events were not delivered`);
      return;
    }
    await sleep(LOOK_INTERVAL_MS);
  }
}

/** Adds the times from acceptance to webhook, of all and by kind. */
function report({ findings }: Stage, paid: Map<string, Paid>): void {
  const all = [...paid.values()];
  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    const own = all.filter((one) => one.kind === kind && one.deliveredMs !== undefined);
    const figure = figureOf(`${kind}: accepted to delivered`, deliveryOf(own));
    findings.figures.push({ ...figure, spread: Number.NaN });
  }
  const ended = all.filter(({ deliveredMs }) => deliveredMs !== undefined);
  findings.figures.push(figureOf('all: accepted to delivered', deliveryOf(ended)));
}
