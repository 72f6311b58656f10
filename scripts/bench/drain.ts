import { createQueueBackend } from '../../src/jobs/backend.ts';
import { openQueues } from '../../src/jobs/queues.ts';
import { createLogger } from '../../src/process/logger.ts';
import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { MERCHANTS_COUNT, proveBooks } from './backlog.ts';
import { measureFloor } from './lifecycle.ts';
import { runTasks } from './load.ts';
import { type BenchMerchant, createMerchants, paymentAt, recordPayment } from './payments.ts';
import { type Figure, figureOf, measureInRounds, type Round, say } from './report.ts';
import { type Queues, SIMULATOR_DELAY_MS, type Stage, startService } from './stage.ts';
import { drainWarm } from './warm-drain.ts';

const HOT_MERCHANTS_COUNT = 32;
const HOT_PAYOUTS_COUNT = 2_000;
const HOT_WARM_UP_COUNT = 200;
/** As many connections too: the callers meet at the wallet, not before the pool. */
const HOT_CALLERS_COUNT = 32;
const NO_OP_QUEUE = 'bench-no-op';
const NO_OPS_COUNT = 2_000;
/** The dispatcher adds this many jobs at once. */
const BATCH_SIZE = 500;
/** As a worker of the service has by default. */
const WORKER_LIMITS = { concurrency: 10, lockMs: 30_000 };

/**
 * Measures how fast a backlog of payments goes from acceptance to the delivered webhook, on each
 * queue backend, next to jobs that do nothing; and what a wallet that all payouts debit costs.
 */
export async function measureDrain(stage: Stage): Promise<void> {
  const { notes, figures } = stage.findings;
  const merchants = await createMerchants(stage, HOT_MERCHANTS_COUNT);
  notes.push(
    `${MERCHANTS_COUNT} merchants, one process of every type, ${SIMULATOR_DELAY_MS} ms until the gateway calls back`,
    "ratio: per second, as a part of the floor's; of 1 merchant, as a part of the rate of many",
  );
  const some = merchants.slice(0, MERCHANTS_COUNT);
  const floor = await measureFloor(stage, some);
  figures.push(floor);
  const { quick } = stage.options;
  const hasRedis = findRedisServer() !== null;
  if (!quick || !hasRedis) await measureBackend(stage, 'postgres', some, floor);
  if (hasRedis) await measureBackend(stage, 'redis', some, floor);
  else notes.push('redis-server is not on PATH: only PostgreSQL was measured');
  if (!quick) await measureHotWallet(stage, merchants);
  await proveBooks(stage);
}

async function measureBackend(
  stage: Stage,
  backend: Queues,
  merchants: BenchMerchant[],
  floor: Figure,
) {
  say(`${backend}: the service and no-op jobs`);
  const service = await startService(stage, { queues: backend });
  const noOps = await runNoOpJobs(stage.config.databaseUrl, service.redisUrl);
  stage.findings.figures.push(figureOf(`${backend}: no-op jobs`, noOps));
  await drainWarm(stage, service, merchants, { name: backend, floor });
  await service.stop();
}

/** Runs jobs that do nothing, added and run in this process. */
async function runNoOpJobs(databaseUrl: string, redisUrl?: string): Promise<Round> {
  const backend = createQueueBackend({ databaseUrl, redisUrl, installationId: 'bench' });
  const queues = openQueues(backend, createLogger('error', 'bench'));
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const worker = backend.createWorker(NO_OP_QUEUE, async () => {}, WORKER_LIMITS);
  worker.on('error', () => {});
  const finished = new Promise<void>((resolve) => {
    worker.on('completed', () => {
      latenciesMs.push(performance.now() - startedAt);
      if (latenciesMs.length === NO_OPS_COUNT) resolve();
    });
  });
  const job = { queue: NO_OP_QUEUE, kind: 'callback', step: 'process', merchant_id: 0 } as const;
  const jobs = Array.from({ length: NO_OPS_COUNT }, (_, index) => {
    return { ...job, row_id: `no-op-${index}`, step_no: 1, delay_ms: 0 };
  });
  while (jobs.length > 0) await queues.add(NO_OP_QUEUE, jobs.splice(0, BATCH_SIZE));
  await finished;
  await worker.close();
  await queues.close();
  return { latenciesMs, elapsedMs: latenciesMs.at(-1)!, errors: [] };
}

/** Measures payouts of one merchant, who has one wallet, beside payouts of many merchants. */
async function measureHotWallet(stage: Stage, merchants: BenchMerchant[]): Promise<void> {
  const database = stage.connect(HOT_CALLERS_COUNT);
  let next = 0;
  const payOut = (payees: BenchMerchant[], count: number) => {
    const mix = { tag: 'hot', merchants: payees, kinds: ['payout'] } as const;
    const record = () => recordPayment(database, paymentAt(next++, mix));
    return runTasks(record, { count, concurrency: HOT_CALLERS_COUNT });
  };
  const cases = [merchants, merchants.slice(0, 1)].map((payees) => {
    const many = payees.length === 1 ? '1 merchant' : `${payees.length} merchants`;
    return { name: `payouts of ${many} × ${HOT_CALLERS_COUNT}`, payees };
  });
  const [many, one] = await measureInRounds(stage.findings, cases, async ({ payees }) => {
    await payOut(payees, HOT_WARM_UP_COUNT);
    return payOut(payees, HOT_PAYOUTS_COUNT);
  });
  one!.ratio = one!.perSecond / many!.perSecond;
}
