import { defaultPoolMax } from '../../src/connections/connection-budget.ts';
import { cpuTimeMs } from './cpu-time.ts';
import { type Figure, throughputFigure } from './figures.ts';
import type { LoadOrder, LoadResult, Work } from './load/order.ts';
import type { ScenarioResult, ScenarioRun } from './scenario.ts';

const SCENARIO = 'acceptance';
const CONCURRENCIES_COUNT = [1, 8, 32];
const WARM_UP_CONCURRENCY_COUNT = 8;
/** Each measurement is made so often, all others in between: a busy neighbour shows as spread. */
const ROUNDS_COUNT = 2;
const WARM_UP_MS = 1_000;
const MAX_REQUESTS_COUNT = 500_000;
const SECOND_MS = 1_000;

/** What initiating is compared with: the statement that records a collection, by itself. */
const REFERENCE = 'bare INSERT';

/**
 * How many collections one web process accepts, next to two that it cannot exceed: the
 * statement alone, and a request that does nothing.
 */
export async function measureAcceptance(run: ScenarioRun): Promise<ScenarioResult> {
  const measurements = new Map<string, Measurement>();
  run.say('warming up');
  for (const { work } of await candidatesOf(run, 0))
    await measure(run, work, WARM_UP_CONCURRENCY_COUNT);
  for (let round = 1; round <= ROUNDS_COUNT; round += 1) {
    for (const concurrency of CONCURRENCIES_COUNT) {
      for (const candidate of await candidatesOf(run, round)) {
        const label = `${candidate.name} × ${concurrency}`;
        run.say(`round ${round} of ${ROUNDS_COUNT}: ${label}`);
        const known = measurements.get(label) ?? { ...candidate, concurrency, rounds: [] };
        known.rounds.push(await measure(run, candidate.work, concurrency));
        measurements.set(label, known);
      }
    }
  }
  const rounds = [...measurements.values()].flatMap((measurement) => measurement.rounds);
  const busiest = Math.max(...rounds.map(({ cpuShare }) => cpuShare));
  return {
    figures: figuresOf(measurements),
    notes: [
      `ratio: per second, as a part of the ${REFERENCE}'s at the same concurrency`,
      `the load generator used at most ${Math.round(100 * busiest)} % of one core`,
      'PostgreSQL runs without fsync here: a disk that is waited for costs both sides of a ratio',
    ],
    firstError: rounds.find(({ firstError }) => firstError !== null)?.firstError ?? null,
  };
}

interface Candidate {
  name: string;
  work: Work;
}

interface Measurement extends Candidate {
  concurrency: number;
  rounds: Round[];
}

interface Round extends LoadResult {
  /** CPU time of the web process for one request. */
  webCpuMs: number | null;
}

async function candidatesOf({ stage }: ScenarioRun, round: number): Promise<Candidate[]> {
  const { baseUrl, config, merchants, origin } = stage;
  const { databaseUrl, databasePoolMax: poolMax = defaultPoolMax('web') } = config;
  const tokens = await Promise.all(merchants.map((merchant) => stage.tokenOf(merchant)));
  const tag = `${round}-${Date.now()}`;
  const payees = merchants.map(({ merchant_id, app_code }) => ({ merchant_id, app_code }));
  const checkout = { kind: 'checkout', baseUrl, tokens } as const;
  return [
    { name: 'GET /healthz', work: { kind: 'get', url: `${origin}/healthz`, token: null } },
    { name: REFERENCE, work: { kind: 'insert', databaseUrl, poolMax, payees, tag: `sql-${tag}` } },
    { name: 'initiate', work: { ...checkout, keyed: false, tag: `plain-${tag}` } },
    {
      name: 'initiate, Idempotency-Key',
      work: { ...checkout, keyed: true, tag: `keyed-${tag}` },
    },
  ];
}

async function measure(run: ScenarioRun, work: Work, concurrency: number): Promise<Round> {
  const { generator, webPid } = run.stage;
  const before = cpuTimeMs(webPid);
  const result = await generator.run(orderOf(run, work, concurrency));
  const after = cpuTimeMs(webPid);
  const isKnown = before !== null && after !== null && work.kind !== 'insert';
  return { ...result, webCpuMs: isKnown ? (after - before) / result.madeCount : null };
}

function orderOf({ options }: ScenarioRun, work: Work, concurrency: number): LoadOrder {
  const count = MAX_REQUESTS_COUNT;
  return {
    work,
    concurrency,
    warmUp: { count, durationMs: WARM_UP_MS },
    measured: { count, durationMs: options.seconds * SECOND_MS },
  };
}

function figuresOf(measurements: ReadonlyMap<string, Measurement>): Figure[] {
  return [...measurements].map(([label, { work, concurrency, rounds }]) => {
    const figure = throughputFigure(SCENARIO, label, rounds);
    const reference = measurements.get(`${REFERENCE} × ${concurrency}`)!;
    const { perSecond } = throughputFigure(SCENARIO, REFERENCE, reference.rounds);
    return {
      ...figure,
      webCpuMs: meanCpuMs(rounds),
      ratio: work.kind === 'checkout' ? figure.perSecond! / perSecond! : null,
    };
  });
}

function meanCpuMs(rounds: Round[]): number | null {
  if (rounds.some(({ webCpuMs }) => webCpuMs === null)) return null;
  return rounds.reduce((sum, { webCpuMs }) => sum + webCpuMs!, 0) / rounds.length;
}
