import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { drainBacklog, MERCHANTS_COUNT, proveBooks } from './backlog.ts';
import { measureFloor } from './lifecycle.ts';
import { createMerchants } from './payments.ts';
import { figureOf } from './report.ts';
import { initiate } from './soak.ts';
import { type Stage, startService } from './stage.ts';
import { drainWarm } from './warm-drain.ts';

/** A gateway's usual time, in place of the simulator's short one. */
const CALLBACK_AFTER_MS = 300;
const OFFERED_PART = 0.5;
const DURATION_MS = 30_000;
const QUICK_DURATION_MS = 8_000;
const MAX_UNDER_WAY_COUNT = 64;

/** Measures how long a payment takes at half of the most, when the gateway takes its usual time. */
export async function measurePace(stage: Stage): Promise<void> {
  const { findings, options } = stage;
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const queues = findRedisServer() ? 'redis' : 'postgres';
  const floor = await measureFloor(stage, merchants);
  const env = { SIMULATOR_DELAY_MS: String(CALLBACK_AFTER_MS) };
  const service = await startService(stage, { queues, env });
  const most = await drainWarm(stage, service, merchants, { name: 'most', floor });
  const perSecond = options.rate ?? Math.max(1, Math.floor(most.perSecond * OFFERED_PART));
  const durationMs = options.quick ? QUICK_DURATION_MS : DURATION_MS;
  const count = Math.floor((perSecond * durationMs) / 1_000);
  const { acceptance, delivered, problems } = await drainBacklog(stage, service, {
    tag: 'pace',
    merchants,
    load: { perSecond, count, concurrency: MAX_UNDER_WAY_COUNT },
    accept: (payment) => initiate(stage, payment),
  });
  const ratio = perSecond / most.perSecond;
  findings.figures.push(figureOf('initiated', acceptance), { ...delivered, ratio });
  findings.notes.push(
    `queues in ${queues}; ${perSecond} payments per second over HTTP, called back after ${CALLBACK_AFTER_MS} ms; ratio: offered, as a part of the most`,
  );
  findings.problems.push(...problems);
  await proveBooks(stage);
}
