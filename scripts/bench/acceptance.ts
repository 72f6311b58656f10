import { defaultPoolMax } from '../../src/connections/connection-budget.ts';
import { startCpuCount } from './cpu-time.ts';
import { runRequests, runTasks } from './load.ts';
import {
  createMerchants,
  initiateRequest,
  type Mix,
  paymentAt,
  recordPayment,
} from './payments.ts';
import { measureInRounds, type Round, say } from './report.ts';
import { type Stage, startService } from './stage.ts';

const CONCURRENCIES_COUNT = [1, 8, 32];
const WARM_UP_S = 1;
/** A request that does nothing. */
const HEALTH = 'GET /healthz';
/** The statement that records a collection, by itself. */
const REFERENCE = 'bare INSERT';
const CALLBACK_URL = 'https://shop.example/webhooks';

/**
 * Measures how many collections one web process accepts, next to two things that it cannot
 * exceed: the statement alone, and a request that does nothing.
 */
export async function measureAcceptance(stage: Stage): Promise<void> {
  const { options, findings } = stage;
  const { pids } = await startService(stage, ['web']);
  const runs = await runsOf(stage);
  say('warming up');
  for (const run of Object.values(runs)) await run(8, options.seconds);
  const cases = CONCURRENCIES_COUNT.flatMap((concurrency) =>
    Object.entries(runs).map(([what, run]) => ({
      name: `${what} × ${concurrency}`,
      run,
      concurrency,
    })),
  );
  let busiest = 0;
  const figures = await measureInRounds(findings, cases, async ({ run, concurrency }) => {
    await run(concurrency, WARM_UP_S);
    const [cpuSince, ownBefore] = [startCpuCount(pids), process.cpuUsage()];
    const round = await run(concurrency, options.seconds);
    const { user, system } = process.cpuUsage(ownBefore);
    busiest = Math.max(busiest, (user + system) / 1_000 / round.elapsedMs);
    const count = round.latenciesMs.length + round.errors;
    return { ...round, webCpuMs: cpuSince().get('web')! / count };
  });
  const rates = new Map(figures.map(({ name, perSecond }) => [name, perSecond]));
  for (const figure of figures) {
    const [what, concurrency] = figure.name.split(' × ');
    if (what === REFERENCE) figure.webCpuMs = Number.NaN;
    else if (what !== HEALTH)
      figure.ratio = figure.perSecond / rates.get(`${REFERENCE} × ${concurrency}`)!;
  }
  findings.notes.push(
    "ratio: per second, as a part of the bare INSERT's at the same concurrency",
    `the load generator used at most ${Math.round(100 * busiest)} % of one core`,
    'PostgreSQL runs without fsync here: a disk that is waited for costs both sides of a ratio',
  );
}

type Run = (concurrency: number, seconds: number) => Promise<Round>;

async function runsOf(stage: Stage): Promise<Record<string, Run>> {
  const { baseUrl, config } = stage;
  const database = stage.connect(config.databasePoolMax ?? defaultPoolMax('web'));
  const merchants = await createMerchants(stage, 2);
  const mix: Mix = { tag: 'order', merchants, kinds: ['collection'], callback_url: CALLBACK_URL };
  let next = 0;
  const initiate =
    (isKeyed: boolean): Run =>
    (connections, duration) =>
      runRequests(`${baseUrl}/collections/checkouts/initiate`, {
        ...{ connections, duration },
        request: () => initiateRequest(paymentAt(next++, mix), isKeyed),
      });
  return {
    [HEALTH]: (connections, duration) =>
      runRequests(`${config.publicUrl}/healthz`, { connections, duration }),
    [REFERENCE]: (concurrency, seconds) =>
      runTasks(() => recordPayment(database, paymentAt(next++, mix)), {
        ...{ concurrency, durationMs: seconds * 1_000 },
      }),
    initiate: initiate(false),
    'initiate, Idempotency-Key': initiate(true),
  };
}
