import { defaultPoolMax } from '../../src/connections/connection-budget.ts';
import { startCpuCount } from './cpu-time.ts';
import { type Load, runRequests, runTasks } from './load.ts';
import { createMerchants, initiateRequest, paymentAt, recordPayment } from './payments.ts';
import { measureInRounds, type Round, say } from './report.ts';
import { type Stage, startService } from './stage.ts';

const CONCURRENCIES_COUNT = [1, 8, 32];
const QUICK_CONCURRENCIES_COUNT = [8];
const WARM_UP_MS = 1_000;
const HEALTH = 'GET /healthz';
/** The bare statement that records a collection. */
const REFERENCE = 'bare INSERT';

/**
 * Measures how many collections one web process accepts, next to two things that it cannot
 * exceed: the statement alone, and a request that does nothing.
 */
export async function measureAcceptance(stage: Stage): Promise<void> {
  const { options, findings } = stage;
  const durationMs = options.seconds * 1_000;
  const { pids } = await startService(stage, { types: ['web'] });
  const runs = await runsOf(stage);
  say('warming up');
  for (const run of Object.values(runs)) await run({ concurrency: 8, durationMs });
  const concurrencies = options.quick ? QUICK_CONCURRENCIES_COUNT : CONCURRENCIES_COUNT;
  const cases = concurrencies.flatMap((concurrency) =>
    Object.entries(runs).map(([what, run]) => {
      return { name: `${what} × ${concurrency}`, what, run, concurrency };
    }),
  );
  let busiest = 0;
  const figures = await measureInRounds(findings, cases, async ({ what, run, concurrency }) => {
    await run({ concurrency, durationMs: WARM_UP_MS });
    const [cpuSince, ownBefore] = [startCpuCount(pids), process.cpuUsage()];
    const round = await run({ concurrency, durationMs });
    const { user, system } = process.cpuUsage(ownBefore);
    busiest = Math.max(busiest, (user + system) / 1_000 / round.elapsedMs);
    const count = round.latenciesMs.length + round.errors.length;
    return what === REFERENCE ? round : { ...round, cpuMs: cpuSince().get('web')! / count };
  });
  for (const [index, { what, concurrency }] of cases.entries()) {
    if (what === REFERENCE || what === HEALTH) continue;
    const reference = figures.find(({ name }) => name === `${REFERENCE} × ${concurrency}`)!;
    figures[index]!.ratio = figures[index]!.perSecond / reference.perSecond;
  }
  findings.notes.push(
    "ratio: per second, as a part of the bare INSERT's at the same concurrency; CPU: web's",
    `the load generator used at most ${Math.round(100 * busiest)} % of one core`,
    'Without --fsync PostgreSQL waits for no disk: to wait for one costs both sides of a ratio',
  );
}

async function runsOf(stage: Stage): Promise<Record<string, (load: Load) => Promise<Round>>> {
  const { baseUrl, config } = stage;
  const database = stage.connect(config.databasePoolMax ?? defaultPoolMax('web'));
  const merchants = await createMerchants(stage, 2);
  const mix = { tag: 'order', merchants, kinds: ['collection'] } as const;
  let next = 0;
  const payment = () => paymentAt(next++, mix);
  const initiate = (load: Load, isKeyed: boolean) =>
    runRequests(`${baseUrl}/collections/checkouts/initiate`, load, () =>
      initiateRequest(payment(), isKeyed),
    );
  return {
    [HEALTH]: (load) => runRequests(`${config.publicUrl}/healthz`, load),
    [REFERENCE]: (load) => runTasks(() => recordPayment(database, payment()), load),
    initiate: (load) => initiate(load, false),
    'initiate, Idempotency-Key': (load) => initiate(load, true),
  };
}
