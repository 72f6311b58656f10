import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMsPerOne } from '../cpu-time.ts';
import type { Work } from '../load/order.ts';
import type { ScenarioRun } from '../scenario.ts';
import type { ServiceProcesses } from '../service-processes.ts';
import { type Outcome, outcomesOf, progressOf } from './outcomes.ts';

export const BACKLOG_CALLERS_COUNT = 8;
const ACCEPTANCE_MAX_MS = 30_000;
const POLL_INTERVAL_MS = 1_000;
const POLLS_PER_LINE_COUNT = 5;
/** A drain that takes longer is given up: this, and so much for each payment. */
const GIVE_UP_BASE_MS = 20_000;
const GIVE_UP_PER_PAYMENT_MS = 40;

/** Payments that are accepted as fast as the callers can. */
export interface Backlog {
  count: number;
  work: Extract<Work, { tag: string; callbackUrl: string }>;
}

export interface Drained {
  outcomes: Outcome[];
  /** CPU time of each process for one payment, in ms; null where it is unknown. */
  cpuMs: Map<string, number | null>;
  /** Accepted per second. */
  acceptedPerSecond: number;
  firstError: string | null;
}

/** Accepts a backlog while the processes run, and waits until the last webhook is delivered. */
export async function drainBacklog(
  run: ScenarioRun,
  processes: ServiceProcesses,
  { count: wanted, work }: Backlog,
): Promise<Drained> {
  const { stage } = run;
  const before = processes.cpuTimesMs();
  const accepted = await stage.generator.run({
    work,
    concurrency: BACKLOG_CALLERS_COUNT,
    warmUp: { count: 0, durationMs: 0 },
    measured: { count: wanted, durationMs: ACCEPTANCE_MAX_MS },
  });
  // A slow machine has not taken all of them by then; those that it has are drained.
  const count = accepted.latenciesMs.length;
  const isDrained = await waitUntilDelivered(run, work.tag, count);
  const after = processes.cpuTimesMs();
  const outcomes = await outcomesOf(stage.database, work.tag);
  return {
    outcomes,
    cpuMs: cpuMsPerOne(before, after, count),
    acceptedPerSecond: (accepted.latenciesMs.length / accepted.elapsedMs) * 1_000,
    firstError: accepted.firstError ?? (isDrained ? null : 'it took too long and was given up'),
  };
}

/** @returns whether all is delivered; otherwise it took too long. */
export async function waitUntilDelivered(
  { stage, say }: ScenarioRun,
  tag: string,
  count: number,
): Promise<boolean> {
  const giveUpAt = performance.now() + GIVE_UP_BASE_MS + count * GIVE_UP_PER_PAYMENT_MS;
  for (let polls = 1; performance.now() < giveUpAt; polls += 1) {
    const { final, delivered } = await progressOf(stage.database, tag);
    if (delivered === count) return true;
    if (polls % POLLS_PER_LINE_COUNT === 0) {
      say(`${final} of ${count} final, ${delivered} delivered`);
    }
    await sleep(POLL_INTERVAL_MS);
  }
  return false;
}
