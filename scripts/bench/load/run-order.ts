import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../src/connections/database-errors.ts';
import type { Bound, LoadOrder, LoadResult } from './order.ts';
import { prepareWork, type Task } from './work.ts';

/** After so many failures in a row there is nothing to measure. */
const MAX_FAILURES_IN_A_ROW_COUNT = 100;
const SECOND_MS = 1_000;

/** Does the work of an order: as many at once as it says, until its bound, after a warm-up. */
export async function runOrder(order: LoadOrder): Promise<LoadResult> {
  const { work, concurrency, perSecond, warmUp, measured } = order;
  const task = prepareWork(work, concurrency);
  // The references of the measured part go on where the warm-up's end.
  const indexes = { next: 0 };
  try {
    await runLoop(task, { concurrency, perSecond, bound: warmUp }, indexes);
    const result = await runLoop(task, { concurrency, perSecond, bound: measured }, indexes);
    return { ...result, madeCount: indexes.next };
  } finally {
    await task.close();
  }
}

interface Loop {
  concurrency: number;
  perSecond: number | undefined;
  bound: Bound;
}

async function runLoop(
  task: Task,
  { concurrency, perSecond, bound }: Loop,
  indexes: { next: number },
): Promise<Omit<LoadResult, 'madeCount'>> {
  const latenciesMs: number[] = [];
  const failures = { count: 0, inARow: 0, first: null as string | null };
  const firstIndex = indexes.next;
  const lastIndex = firstIndex + bound.count;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + bound.durationMs;
  const nextDueAt = () =>
    perSecond === undefined
      ? performance.now()
      : startedAt + ((indexes.next - firstIndex) / perSecond) * SECOND_MS;
  const goOn = () =>
    indexes.next < lastIndex &&
    Math.max(nextDueAt(), performance.now()) < endsAt &&
    failures.inARow < MAX_FAILURES_IN_A_ROW_COUNT;
  const lane = async () => {
    while (goOn()) {
      const beganAt = nextDueAt();
      const index = indexes.next++;
      await waitUntil(beganAt);
      try {
        await task.run(index);
        latenciesMs.push(performance.now() - beganAt);
        failures.inARow = 0;
      } catch (error) {
        failures.count += 1;
        failures.inARow += 1;
        failures.first ??= messageOf(error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuShare = (user + system) / 1_000 / elapsedMs;
  return { latenciesMs, errors: failures.count, firstError: failures.first, elapsedMs, cpuShare };
}

/** Resolves when `dueAt` has come by the clock: a timer may ring a millisecond or two before. */
async function waitUntil(dueAt: number): Promise<void> {
  for (;;) {
    const waitMs = dueAt - performance.now();
    if (waitMs <= 0) return;
    await sleep(Math.ceil(waitMs));
  }
}
