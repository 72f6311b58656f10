import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { drainBacklog, proveBooks } from './backlog.ts';
import { BenchError } from './options.ts';
import {
  type BenchPayment,
  createMerchants,
  DECLINED,
  initiateRequest,
  SUCCEEDS,
} from './payments.ts';
import { figureOf, say } from './report.ts';
import { judge, WARM_UP_PART } from './soak-judge.ts';
import { sampleUntil } from './soak-sample.ts';
import { type BenchRedis, type Stage, startRedis, startService } from './stage.ts';

/** So many that no merchant's share of webhooks holds the others up. */
const MERCHANTS_COUNT = 8;
/**
 * Of ten payments of each kind seven simply succeed; one is called back twice, one not at all,
 * so that it is polled; one is declined, which for a payout is a refund.
 */
const MIXED_ENDINGS = [...Array<string>(7).fill(SUCCEEDS), '102', '101', DECLINED];
const CALLERS_COUNT = 8;
/** Part of the most that is offered. */
const OFFERED_PART = 0.5;
/** Requests under way at once: a service that falls so far behind has failed. */
const MAX_UNDER_WAY_COUNT = 64;
/** How much longer than planned the load may take; then it was not offered at its rate. */
const LATE_PART = 0.02;
const GRACE_MS = 30_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Offers half of what the service can bear, for a long time and at a constant rate, and
 * says whether anything grows that must not: memory, queues, what waits. At the end every
 * payment must be over and told of, and the books must be right.
 */
export async function measureSoak(stage: Stage): Promise<void> {
  const { options, findings } = stage;
  say('starting the service and the simulator');
  const redis = await findRedis(stage);
  const service = await startService(stage, undefined, redis);
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const kinds = ['collection', 'payout'] as const;
  const accept = (payment: BenchPayment) => initiate(stage, payment);
  let most = Number.NaN;
  if (options.rate === null) {
    say(`measuring the most with ${options.payments} payments`);
    const load = { count: options.payments, concurrency: CALLERS_COUNT };
    const mix = { tag: 'most', merchants, kinds };
    const { delivered, problems } = await drainBacklog(stage, service, { mix, load, accept });
    if (problems[0]) throw new BenchError(`The most could not be measured: ${problems[0]}`);
    most = delivered.perSecond;
    findings.notes.push(`the most was ${most.toFixed(1)} payments per second`);
  }
  const perSecond = options.rate ?? Math.max(1, Math.floor(most * OFFERED_PART));
  const durationMs = options.minutes * 60_000;
  const count = (perSecond * durationMs) / 1_000;
  say(`${perSecond} payments per second, ${count} in all`);
  const soaking = drainBacklog(stage, service, {
    mix: { tag: 'soak', merchants, kinds, endings: MIXED_ENDINGS },
    load: { count, perSecond, durationMs: durationMs + GRACE_MS, concurrency: MAX_UNDER_WAY_COUNT },
    accept,
  });
  const samples = await sampleUntil(soaking, stage, service);
  const { acceptance, delivered, problems } = await soaking;
  const underLoad = samples.filter(({ atMs }) => atMs <= acceptance.elapsedMs);
  const verdict = judge(underLoad, perSecond);
  const isLate = acceptance.elapsedMs > durationMs * (1 + LATE_PART);
  const ratio = perSecond / most;
  findings.figures.push(figureOf('initiated', [acceptance]), { ...delivered, ratio });
  findings.notes.push(
    `queues in ${redis ? 'Redis' : 'PostgreSQL'}; the first ${WARM_UP_PART * 100} % of ${options.minutes} min are not judged; of the rest the medians of the first and of the last third:`,
    ...verdict.trends,
  );
  findings.problems.push(...problems, ...verdict.problems);
  if (isLate) findings.problems.push(`${MAX_UNDER_WAY_COUNT} requests at once were not enough`);
  await proveBooks(stage);
}

/** Takes the caller's Redis, or else starts one if there is a program. */
async function findRedis(stage: Stage): Promise<BenchRedis | undefined> {
  const url = process.env.REDIS_URL;
  if (!url) return findRedisServer() ? startRedis(stage) : undefined;
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)) return { url };
  throw new BenchError('REDIS_URL must be on this machine: the bench does not leave it');
}

async function initiate({ baseUrl }: Stage, payment: BenchPayment): Promise<void> {
  const path = payment.kind === 'payout' ? 'payouts' : 'collections/checkouts';
  const answer = await fetch(`${baseUrl}/${path}/initiate`, {
    ...initiateRequest(payment),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${body}`);
}
