import { cpuMsPerOne, sumOrNull } from '../cpu-time.ts';
import { waitUntilDelivered } from '../drain/drain-backlog.ts';
import { breakOf, type Outcome, outcomesOf, problemOf, roundOf } from '../drain/outcomes.ts';
import { type Figure, throughputFigure } from '../figures.ts';
import { paymentAt } from '../load/initiate-task.ts';
import type { InitiateWork, LoadResult, MixedPayment } from '../load/order.ts';
import type { BenchMerchant } from '../merchants.ts';
import type { ScenarioResult, ScenarioRun } from '../scenario.ts';
import {
  type ServiceProcesses,
  startReceiver,
  startServiceProcesses,
} from '../service-processes.ts';
import { judge, lineOf, WARM_UP_PART } from './judge.ts';
import { measureMost, prepareMerchants } from './most.ts';
import { type Sample, sampleUntil } from './sample.ts';

const SCENARIO = 'soak';
/** Of the most that goes all the way. */
const OFFERED_PART = 0.5;
/** Requests under way at once: a service that falls so far behind has failed. */
const MAX_UNDER_WAY = 64;
/** How much longer than planned the load may take; then it was not offered at its rate. */
const LATE_PART = 0.02;
const GRACE_MS = 30_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

const DECLINED = '001';
/**
 * Of ten of each kind seven simply succeed; one is called back twice, one not at all, so
 * that it is polled; one is declined, which for a payout is a refund.
 */
const ENDINGS = [...Array<string>(7).fill('678'), '102', '101', DECLINED];
const MIX: readonly MixedPayment[] = ENDINGS.flatMap((ending) => [
  { kind: 'collection', ending },
  { kind: 'payout', ending },
]);

/**
 * Offers half of what the service can bear, for a long time and at a constant rate, and
 * says whether anything grows that must not: memory, queues, what waits. At the end every
 * payment must be over and told of, and the books must be right.
 */
export async function measureSoak(run: ScenarioRun): Promise<ScenarioResult> {
  const { stage, options, say } = run;
  const merchants = await prepareMerchants(run);
  say('starting workers and simulator');
  const redis = { url: stage.config.redisUrl, pid: stage.redisPid };
  const processes = await startServiceProcesses(stage, redis);
  const most = options.rate === null ? await measureMost(run, processes, merchants) : null;
  const perSecond = options.rate ?? Math.max(1, Math.floor(most! * OFFERED_PART));
  const soaked = await soak(run, processes, merchants, perSecond);
  const { trends, problems } = judge(soaked.samples, perSecond);
  return {
    figures: figuresOf(soaked, most === null ? null : perSecond / most),
    notes: [
      ...(most === null ? [] : [`the most was ${most.toFixed(1)} payments per second`]),
      `the first ${WARM_UP_PART * 100} % of ${options.minutes} min are not judged; of the rest the medians of the first and of the last third:`,
      ...trends.map(lineOf),
    ],
    firstError: [...soaked.problems, ...problems].join('; ') || null,
  };
}

interface Soaked {
  offered: LoadResult;
  samples: Sample[];
  outcomes: Outcome[];
  /** Of all processes and stores, for one payment. */
  cpuMs: number | null;
  problems: string[];
}

async function soak(
  run: ScenarioRun,
  processes: ServiceProcesses,
  merchants: BenchMerchant[],
  perSecond: number,
): Promise<Soaked> {
  const { stage, options, say } = run;
  const receiver = await startReceiver(stage);
  const work: InitiateWork = {
    ...{ kind: 'initiate', baseUrl: stage.baseUrl, merchants, tag: SCENARIO, mix: MIX },
    callbackUrl: receiver.url,
  };
  const durationMs = options.minutes * MINUTE_MS;
  const count = (perSecond * durationMs) / SECOND_MS;
  say(`${perSecond} payments per second, ${count} in all`);
  const cpuBefore = processes.cpuTimesMs();
  const load = stage.generator.run({
    ...{ work, perSecond, concurrency: MAX_UNDER_WAY, warmUp: { count: 0, durationMs: 0 } },
    measured: { count, durationMs: durationMs + GRACE_MS },
  });
  const samples = await Promise.race([sampleUntil(load, run, processes.pids), processes.crashed]);
  const offered = await load;
  const isDelivered = await waitUntilDelivered(run, SCENARIO, count);
  const cpuMs = cpuMsPerOne(cpuBefore, processes.cpuTimesMs(), count);
  say('proving the books');
  const outcomes = await outcomesOf(stage.database, SCENARIO);
  const problems = [
    offered.firstError,
    latenessOf(offered, durationMs),
    isDelivered ? null : 'not everything was delivered in time',
    problemOf(outcomes, receiver.ids, { count, failed: declinedOf(work, count) }),
    await breakOf(stage.database),
  ].filter((problem) => problem !== null);
  return { offered, samples, outcomes, cpuMs: sumOrNull([...cpuMs.values()]), problems };
}

/** @param ratio the rate, as a part of the most; null where that was not measured. */
function figuresOf({ offered, outcomes, cpuMs }: Soaked, ratio: number | null): Figure[] {
  const delivered = roundOf(outcomes, 'acceptedMs', 'deliveredMs');
  return [
    throughputFigure(SCENARIO, 'initiated', [offered]),
    {
      ...throughputFigure(SCENARIO, 'accepted to delivered', [delivered]),
      ...{ totalCpuMs: cpuMs, ratio },
    },
  ];
}

function declinedOf(work: InitiateWork, count: number): number {
  const all = Array.from({ length: count }, (_, index) => paymentAt(index, work));
  return all.filter(({ ending }) => ending === DECLINED).length;
}

function latenessOf({ elapsedMs }: LoadResult, durationMs: number): string | null {
  if (elapsedMs <= durationMs * (1 + LATE_PART)) return null;
  return `${MAX_UNDER_WAY} requests under way were not enough to offer that rate`;
}
