import { setTimeout as sleep } from 'node:timers/promises';
import type { Payee } from '../load/order.ts';
import type { ScenarioRun } from '../scenario.ts';
import { type Outcome, outcomesOf, progressOf } from './outcomes.ts';
import type { DrainProcesses } from './processes.ts';

const CALLERS_COUNT = 8;
const ACCEPTANCE_MAX_MS = 30_000;
const POLL_INTERVAL_MS = 1_000;
const POLLS_PER_LINE_COUNT = 5;
/** A drain that takes longer is given up: this, and so much for each payment. */
const GIVE_UP_BASE_MS = 20_000;
const GIVE_UP_PER_PAYMENT_MS = 40;

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
  processes: DrainProcesses,
  backlog: { tag: string; payees: Payee[]; callbackUrl: string },
): Promise<Drained> {
  const { stage, options } = run;
  const { paymentsCount: count } = options;
  const before = processes.cpuTimesMs();
  const accepted = await stage.generator.run({
    work: {
      ...{ kind: 'accept', databaseUrl: stage.config.databaseUrl, poolMax: CALLERS_COUNT },
      ...{ ...backlog, payments: ['collection', 'payout'] },
    },
    concurrency: CALLERS_COUNT,
    warmUp: { count: 0, durationMs: 0 },
    measured: { count, durationMs: ACCEPTANCE_MAX_MS },
  });
  const isDrained = await waitUntilDelivered(run, backlog.tag);
  const after = processes.cpuTimesMs();
  const outcomes = await outcomesOf(stage.database, backlog.tag);
  return {
    outcomes,
    cpuMs: new Map([...after].map(([name, ms]) => [name, perPayment(before.get(name), ms, count)])),
    acceptedPerSecond: (accepted.latenciesMs.length / accepted.elapsedMs) * 1_000,
    firstError: accepted.firstError ?? (isDrained ? null : 'it took too long and was given up'),
  };
}

/** @returns whether all is delivered; otherwise it took too long. */
async function waitUntilDelivered(
  { stage, options, say }: ScenarioRun,
  tag: string,
): Promise<boolean> {
  const { paymentsCount: count } = options;
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

function perPayment(before: number | null | undefined, after: number | null, count: number) {
  return before == null || after === null ? null : (after - before) / count;
}
