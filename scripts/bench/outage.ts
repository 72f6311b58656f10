import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../../src/time.ts';
import { findRedisServer } from '../sandbox/embedded/redis.ts';
import {
  deliveryOf,
  drainBacklog,
  MERCHANTS_COUNT,
  type Outcome,
  problemOf,
  proveBooks,
  startReceiver,
} from './backlog.ts';
import { measureFloor } from './lifecycle.ts';
import { runTasks } from './load.ts';
import { type BenchMerchant, createMerchants, paymentAt, recordPayment } from './payments.ts';
import { figureOf, say } from './report.ts';
import { initiate } from './soak.ts';
import { type Queues, type Stage, startService } from './stage.ts';
import { drainWarm } from './warm-drain.ts';

const CALLERS_COUNT = 8;
/** The rate of fresh payments, as a part of the most. */
const FRESH_PART = 0.1;
const MAX_UNDER_WAY_COUNT = 64;
const LOOK_INTERVAL_MS = 500;
/** A backlog is given up after this number of times that a drain takes. */
const GIVE_UP_FACTOR = 4;
/** A payout may be late by hours. A collection is not sent after some minutes. */
const DEADLINE_MS = 4 * HOUR_MS;

/**
 * Measures how fast the backlog of an outage drains, on each queue backend, and how long fresh payments take beside
 * it. The dispatcher stands while the backlog is accepted.
 */
export async function measureOutage(stage: Stage): Promise<void> {
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const { quick } = stage.options;
  const hasRedis = findRedisServer() !== null;
  if (hasRedis) await measureBackend(stage, 'redis', merchants);
  if (!quick || !hasRedis) await measureBackend(stage, 'postgres', merchants);
  await proveBooks(stage);
}

async function measureBackend(stage: Stage, queues: Queues, merchants: BenchMerchant[]) {
  const { findings, options } = stage;
  const floor = await measureFloor(stage, merchants);
  const service = await startService(stage, { queues });
  const most = await drainWarm(stage, service, merchants, { name: queues, floor });
  const [, dispatcher] = service.pids.find(([type]) => type === 'dispatcher')!;
  process.kill(dispatcher, 'SIGSTOP');
  say(`${queues}: ${options.payments} payouts are accepted while the dispatcher stands`);
  const backlog = await acceptBacklog(stage, queues, merchants);
  const wentOnMs = Date.now();
  process.kill(dispatcher, 'SIGCONT');
  const drainMs = (1_000 * options.payments) / most.perSecond;
  const perSecond = options.rate ?? Math.max(1, Math.floor(most.perSecond * FRESH_PART));
  say(`${queues}: it goes on, with ${perSecond} fresh payments per second`);
  const fresh = await drainBacklog(stage, service, {
    tag: `${queues}-fresh`,
    merchants,
    load: {
      perSecond,
      count: Math.ceil((perSecond * drainMs) / 1_000),
      concurrency: MAX_UNDER_WAY_COUNT,
    },
    accept: (payment) => initiate(stage, payment),
  });
  const isWaiting = ({ deliveredMs }: Outcome) => deliveredMs === undefined;
  while (backlog.some(isWaiting) && Date.now() < wentOnMs + GIVE_UP_FACTOR * drainMs) {
    await sleep(LOOK_INTERVAL_MS);
  }
  for (const outcome of backlog) outcome.acceptedMs = wentOnMs;
  const drained = figureOf(`${queues}: backlog`, deliveryOf(backlog));
  findings.figures.push(
    { ...drained, ratio: drained.perSecond / most.perSecond },
    { ...fresh.delivered, name: `${queues}: fresh, accepted to delivered` },
  );
  const problem = problemOf(backlog, options.payments);
  findings.problems.push(...fresh.problems, ...(problem ? [`${queues}: ${problem}`] : []));
  await service.stop();
}

/** Has payouts accepted straight in the database. @returns what will become of them */
async function acceptBacklog(
  stage: Stage,
  queues: Queues,
  merchants: BenchMerchant[],
): Promise<Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  const callback_url = await startReceiver(stage, outcomes);
  const database = stage.connect(CALLERS_COUNT);
  const mix = { tag: `${queues}-backlog`, merchants, kinds: ['payout'], callback_url } as const;
  const { errors } = await runTasks(
    async (index) => {
      const payment = { ...paymentAt(index, mix), deadline_ms: DEADLINE_MS };
      outcomes.set(payment.ref_no, { isDeclined: false, ids: new Set() });
      await recordPayment(database, payment);
    },
    { count: stage.options.payments, concurrency: CALLERS_COUNT },
  );
  if (errors[0]) stage.findings.problems.push(errors[0]);
  return [...outcomes.values()];
}
