import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { drainBacklog, figureBetween, proveBooks } from './backlog.ts';
import { runTasks } from './load.ts';
import { runNoOpJobs } from './no-op-jobs.ts';
import { type BenchMerchant, createMerchants, paymentAt, recordPayment } from './payments.ts';
import { figureOf, measureInRounds, say } from './report.ts';
import { SIMULATOR_DELAY_MS, type Stage, startRedis, startService } from './stage.ts';

const MERCHANTS_COUNT = 32;
/** So many that no merchant's share of webhooks holds the drain up. */
const DRAIN_MERCHANTS_COUNT = 8;
const CALLERS_COUNT = 8;
const HOT_PAYOUTS_COUNT = 2_000;
const HOT_WARM_UP_COUNT = 200;
/** As many connections too: the callers meet at the wallet, not before the pool. */
const HOT_CALLERS_COUNT = 32;
/** Nothing is delivered: no worker runs. */
const NO_RECEIVER_URL = 'http://127.0.0.1:9/webhooks';

/**
 * Measures how fast a backlog of payments goes all the way, accepted to final to webhook
 * delivered, on each queue backend, next to jobs that do nothing; and what a wallet that all
 * payouts debit costs. A wrong end, of a payment or of the books, is a problem.
 */
export async function measureDrain(stage: Stage): Promise<void> {
  const { notes } = stage.findings;
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  notes.push(
    `${DRAIN_MERCHANTS_COUNT} merchants, one process of every type, ${SIMULATOR_DELAY_MS} ms until the gateway calls back`,
    "ratio: per second, as a part of the no-op jobs' on the same backend; of 1 merchant, as a part of that of many",
  );
  await measureBackend(stage, 'postgres', merchants.slice(0, DRAIN_MERCHANTS_COUNT));
  if (findRedisServer()) {
    await measureBackend(stage, 'redis', merchants.slice(0, DRAIN_MERCHANTS_COUNT));
  } else {
    notes.push('redis-server is not on PATH: only PostgreSQL was measured');
  }
  await measureHotWallet(stage, merchants);
  await proveBooks(stage);
}

async function measureBackend(
  stage: Stage,
  backend: string,
  merchants: BenchMerchant[],
): Promise<void> {
  const { findings, options } = stage;
  say(`${backend}: starting the service and the simulator`);
  const redis = backend === 'redis' ? await startRedis(stage) : undefined;
  const service = await startService(stage, undefined, redis);
  say(`${backend}: no-op jobs`);
  const noOps = await runNoOpJobs(stage.config.databaseUrl, redis?.url);
  const reference = figureOf(`${backend}: no-op jobs`, [noOps]);
  say(`${backend}: draining ${options.payments} payments`);
  // Straight in the database: over HTTP accepting would take much of the drain's CPU time.
  const database = stage.connect(CALLERS_COUNT);
  const { acceptance, outcomes, delivered, cpuMs, problems } = await drainBacklog(stage, service, {
    mix: { tag: `drain-${backend}`, merchants, kinds: ['collection', 'payout'] },
    load: { count: options.payments, concurrency: CALLERS_COUNT },
    accept: (payment) => recordPayment(database, payment),
  });
  await service.stop();
  const told = figureBetween(outcomes, 'final', 'delivered');
  const figures = [
    figureBetween(outcomes, 'accepted', 'final'),
    { ...told, perSecond: Number.NaN },
    delivered,
  ].map((figure) => ({
    ...figure,
    name: `${backend}: ${figure.name}`,
    ratio: figure.perSecond / reference.perSecond,
  }));
  findings.figures.push(reference, ...figures);
  findings.problems.push(...problems);
  const acceptedPerSecond = Math.round(figureOf('', [acceptance]).perSecond);
  findings.notes.push(
    `${backend}: ${acceptedPerSecond} accepted per second, straight in the database`,
    `${backend}: CPU ms for one payment: ${cpuMs.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ')}`,
  );
}

/** Measures payouts of one merchant, whose wallet each of them debits, next to those of many. */
async function measureHotWallet(stage: Stage, merchants: BenchMerchant[]): Promise<void> {
  const database = stage.connect(HOT_CALLERS_COUNT);
  let runs = 0;
  const payOut = (payees: BenchMerchant[], count: number) => {
    const [tag, callback_url] = [`hot-${++runs}`, NO_RECEIVER_URL];
    const mix = { tag, merchants: payees, kinds: ['payout' as const], callback_url };
    const record = (index: number) => recordPayment(database, paymentAt(index, mix));
    return runTasks(record, { count, concurrency: HOT_CALLERS_COUNT });
  };
  const cases = [
    { name: `payouts of ${merchants.length} merchants × ${HOT_CALLERS_COUNT}`, payees: merchants },
    { name: `payouts of 1 merchant × ${HOT_CALLERS_COUNT}`, payees: merchants.slice(0, 1) },
  ];
  const [many, one] = await measureInRounds(stage.findings, cases, async ({ payees }) => {
    await payOut(payees, HOT_WARM_UP_COUNT);
    return payOut(payees, HOT_PAYOUTS_COUNT);
  });
  one!.ratio = one!.perSecond / many!.perSecond;
}
