import { topUpPayoutWallet } from '../../../src/domain/wallets/operator-entries.ts';
import { findRedisServer, startEmbeddedRedis } from '../../sandbox/embedded/redis.ts';
import { sumOrNull } from '../cpu-time.ts';
import { type Figure, type Round, throughputFigure } from '../figures.ts';
import type { Payee } from '../load/order.ts';
import { createMerchants } from '../merchants.ts';
import type { ScenarioResult, ScenarioRun } from '../scenario.ts';
import { SIMULATOR_DELAY_MS, startReceiver, startServiceProcesses } from '../service-processes.ts';
import {
  BACKLOG_CALLERS_COUNT,
  type Backlog,
  type Drained,
  drainBacklog,
} from './drain-backlog.ts';
import { measureHotWallet } from './hot-wallet.ts';
import { runNoOpJobs } from './no-op-jobs.ts';
import { breakOf, problemOf, roundOf } from './outcomes.ts';

const SCENARIO = 'drain';
const MERCHANTS_COUNT = 32;
/** So many that no merchant's share of webhooks holds the drain up. */
const DRAIN_MERCHANTS_COUNT = 8;
const TOP_UP_CENTS = 100_000_000_000;

/**
 * How fast a backlog of payments goes all the way, accepted to final to webhook delivered,
 * on each queue backend, next to jobs that do nothing; and what a wallet that all payouts
 * debit costs. What ends wrongly, in a payment or in the books, is an error.
 */
export async function measureDrain(run: ScenarioRun): Promise<ScenarioResult> {
  const payees = await preparePayees(run);
  const results: Part[] = [];
  for (const backend of backendsHere()) {
    results.push(await measureBackend(run, backend, payees.slice(0, DRAIN_MERCHANTS_COUNT)));
  }
  results.push({ notes: [], ...(await measureHotWallet(run, SCENARIO, payees)) });
  run.say('proving the books');
  const broken = await breakOf(run.stage.database);
  return {
    figures: results.flatMap(({ figures }) => figures),
    notes: [
      `${DRAIN_MERCHANTS_COUNT} merchants, one process of every type, ${SIMULATOR_DELAY_MS} ms until the gateway calls back`,
      "ratio: per second, as a part of the no-op jobs' on the same backend; of 1 merchant, as a part of that of many",
      ...results.flatMap(({ notes }) => notes),
      ...(findRedisServer() ? [] : ['redis-server is not on PATH: only PostgreSQL was measured']),
    ],
    firstError: results.find(({ firstError }) => firstError !== null)?.firstError ?? broken,
  };
}

type Part = Pick<ScenarioResult, 'figures' | 'notes' | 'firstError'>;

type Backend = 'postgres' | 'redis';

function backendsHere(): Backend[] {
  return findRedisServer() ? ['postgres', 'redis'] : ['postgres'];
}

async function preparePayees({ stage }: ScenarioRun): Promise<Payee[]> {
  const names = Array.from({ length: MERCHANTS_COUNT }, (_, index) => `Duka${index + 1}`);
  const { database, config } = stage;
  const merchants = await createMerchants(database, config.secretsKeys, names);
  for (const { merchant_id } of merchants) {
    await topUpPayoutWallet(database, merchant_id, TOP_UP_CENTS, 'bench-opening');
  }
  return merchants.map(({ merchant_id, app_code }) => ({ merchant_id, app_code }));
}

async function measureBackend(run: ScenarioRun, backend: Backend, payees: Payee[]): Promise<Part> {
  const { stage, options } = run;
  run.say(`${backend}: starting workers and simulator`);
  const { reaper } = stage;
  const redis = backend === 'redis' ? await startEmbeddedRedis({ reaper }) : undefined;
  stage.stopAtEnd(async () => redis?.stop());
  const processes = await startServiceProcesses(stage, {
    url: redis?.url,
    pid: redis?.pid ?? null,
  });
  try {
    run.say(`${backend}: no-op jobs`);
    const { databaseUrl } = stage.config;
    const noOps = await runNoOpJobs({ databaseUrl, redisUrl: redis?.url });
    run.say(`${backend}: draining ${options.paymentsCount} payments`);
    const receiver = await startReceiver(stage);
    const backlog = backlogOf(run, `drain-${backend}`, payees, receiver.url);
    const drained = await Promise.race([drainBacklog(run, processes, backlog), processes.crashed]);
    const problem = problemOf(drained.outcomes, receiver.ids, { count: options.paymentsCount });
    return {
      figures: figuresOf(backend, noOps, drained),
      notes: notesOf(backend, drained),
      firstError: errorOf(backend, [drained.firstError, problem]),
    };
  } finally {
    await processes.stop();
    await redis?.stop();
  }
}

/** Accepted straight in the database: over HTTP it would take much of the drain's CPU time. */
function backlogOf(
  { stage, options }: ScenarioRun,
  tag: string,
  payees: Payee[],
  callbackUrl: string,
): Backlog {
  const { databaseUrl } = stage.config;
  return {
    count: options.paymentsCount,
    work: {
      ...{ kind: 'accept', databaseUrl, poolMax: BACKLOG_CALLERS_COUNT, payees, tag, callbackUrl },
      payments: ['collection', 'payout'],
    },
  };
}

function errorOf(backend: Backend, problems: (string | null)[]): string | null {
  const found = problems.filter((problem) => problem !== null);
  return found.length === 0 ? null : `${backend}: ${found.join('; ')}`;
}

function figuresOf(backend: Backend, noOps: Round, { outcomes, cpuMs }: Drained): Figure[] {
  const reference = throughputFigure(SCENARIO, `${backend}: no-op jobs`, [noOps]);
  const spans = [
    ['accepted to final', 'acceptedMs', 'finalMs'],
    ['final to delivered', 'finalMs', 'deliveredMs'],
    ['accepted to delivered', 'acceptedMs', 'deliveredMs'],
  ] as const;
  const figures = spans.map(([name, from, to]) => {
    const round = roundOf(outcomes, from, to);
    const figure = throughputFigure(SCENARIO, `${backend}: ${name}`, [round]);
    if (from === 'finalMs') return { ...figure, perSecond: null };
    return { ...figure, ratio: figure.perSecond! / reference.perSecond! };
  });
  const last = { ...figures.pop()!, totalCpuMs: sumOrNull([...cpuMs.values()]) };
  return [reference, ...figures, last];
}

function notesOf(backend: Backend, { acceptedPerSecond, cpuMs }: Drained): string[] {
  const parts = [...cpuMs].map(([name, ms]) => `${name} ${ms === null ? '?' : ms.toFixed(2)}`);
  return [
    `${backend}: ${Math.round(acceptedPerSecond)} accepted per second, straight in the database`,
    `${backend}: CPU ms for one payment: ${parts.join(', ')}`,
  ];
}
