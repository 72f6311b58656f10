import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { type Backlog, drainBacklog, MERCHANTS_COUNT, proveBooks } from './backlog.ts';
import { BenchError } from './options.ts';
import { type BenchPayment, createMerchants, initiateRequest, MIXED_ENDINGS } from './payments.ts';
import { figureOf, say } from './report.ts';
import { judge, sampleUntil, WARM_UP_PART } from './soak-watch.ts';
import { type Stage, startService } from './stage.ts';

const CALLERS_COUNT = 8;
/** Part of the most that is offered. */
const OFFERED_PART = 0.5;
/** Requests under way at once: a service that falls so far behind has failed. */
const MAX_UNDER_WAY_COUNT = 64;
/** A load that takes longer than planned by more than this was not offered at its rate. */
const LATE_PART = 0.02;
/** After its time the load may end, and a request may take so long. */
const GRACE_MS = 30_000;

/**
 * Offers half of what the service can bear, for a long time and at a constant rate. Nothing may
 * grow: memory, queues, backlogs. Every payment must end right, and so must the books.
 */
export async function measureSoak(stage: Stage): Promise<void> {
  const { options, findings } = stage;
  say('starting the service and the simulator');
  const queues = findRedisServer() ? 'redis' : 'postgres';
  const service = await startService(stage, { queues });
  const merchants = await createMerchants(stage, MERCHANTS_COUNT);
  const drain = (tag: string, load: Backlog['load'], endings?: string[]) =>
    drainBacklog(stage, service, {
      tag,
      merchants,
      endings,
      load,
      accept: (payment) => initiate(stage, payment),
    });
  let most = Number.NaN;
  if (options.rate === null) {
    say(`measuring the most with ${options.payments} payments`);
    const load = { count: options.payments, concurrency: CALLERS_COUNT };
    const { delivered, problems } = await drain('most', load);
    if (problems[0]) throw new BenchError(`The most could not be measured: ${problems[0]}`);
    most = delivered.perSecond;
    findings.notes.push(`the most was ${most.toFixed(1)} payments per second`);
  }
  const perSecond = options.rate ?? Math.max(1, Math.floor(most * OFFERED_PART));
  const durationMs = options.minutes * 60_000;
  const count = (perSecond * durationMs) / 1_000;
  say(`${perSecond} payments per second, ${count} in all`);
  const bounds = { count, durationMs: durationMs + GRACE_MS, concurrency: MAX_UNDER_WAY_COUNT };
  const soaking = drain('soak', { perSecond, ...bounds }, MIXED_ENDINGS);
  const samples = await sampleUntil(soaking, stage, service);
  const { acceptance, delivered, problems } = await soaking;
  delivered.ratio = perSecond / most;
  const underLoad = samples.filter(({ atMs }) => atMs <= acceptance.elapsedMs);
  const verdict = judge(underLoad, perSecond);
  findings.figures.push(figureOf('initiated', acceptance), delivered);
  findings.notes.push(
    `queues in ${queues}; the first ${WARM_UP_PART * 100} % of ${options.minutes} min are not judged; of the rest the medians of the first and of the last third:`,
    ...verdict.trends,
  );
  findings.problems.push(...problems, ...verdict.problems);
  if (acceptance.elapsedMs > durationMs * (1 + LATE_PART))
    findings.problems.push(`${MAX_UNDER_WAY_COUNT} requests at once were not enough`);
  await proveBooks(stage);
}

/** Has a payment accepted over HTTP. @throws Error when it is not */
export async function initiate({ baseUrl }: Stage, payment: BenchPayment): Promise<void> {
  const path = payment.kind === 'payout' ? 'payouts' : 'collections/checkouts';
  const answer = await fetch(`${baseUrl}/${path}/initiate`, {
    ...initiateRequest(payment),
    signal: AbortSignal.timeout(GRACE_MS),
  });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${body}`);
}
