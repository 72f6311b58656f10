import { setTimeout as sleep } from 'node:timers/promises';
import autocannon, { type Request } from 'autocannon';
import { messageOf } from '../../src/connections/database-errors.ts';
import type { Round } from './report.ts';

/** In seconds a time-out, and in ms how often autocannon looks whether it is done. */
const LIMITS = { timeout: 30, sampleInt: 50 };

/** Ends at the first of both bounds. */
export interface Load {
  count?: number;
  durationMs?: number;
  /** The most requests under way at once. */
  concurrency: number;
}

/** Has callers send the next request when they have the answer to the last. All but a 200 is an error. */
export function runRequests(
  url: string,
  { count, durationMs, concurrency }: Load,
  request: () => Request = () => ({}),
): Promise<Round> {
  const round: Round = { latenciesMs: [], elapsedMs: 0, errors: [] };
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const bounds = durationMs ? { duration: durationMs / 1_000 } : { amount: count };
    const setupRequest = (defaults: Request) => ({ ...defaults, ...request() });
    const limits = { ...LIMITS, ...bounds, connections: concurrency };
    const options = { url, ...limits, requests: [{ setupRequest }] };
    const instance = autocannon(options, (error) => (error ? reject(error) : resolve(round)));
    // Its own histogram knows whole milliseconds only.
    instance.on('response', (_client, status, _bytes, latencyMs) => {
      if (status === 200) round.latenciesMs.push(latencyMs);
      else round.errors.push(`HTTP status ${status}`);
      round.elapsedMs = performance.now() - startedAt;
    });
    instance.on('reqError', (error) => round.errors.push(messageOf(error)));
  });
}

/**
 * Does a task again and again. With `perSecond` tasks begin at this constant rate, however long
 * each takes, and latencies count from when one was due. (Autocannon sends all of a second at once.)
 */
export async function runTasks(
  task: (index: number) => Promise<unknown>,
  {
    count = Infinity,
    durationMs = Infinity,
    concurrency,
    perSecond,
  }: Load & { perSecond?: number },
): Promise<Round> {
  const round: Round = { latenciesMs: [], elapsedMs: 0, errors: [] };
  const startedAt = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const now = performance.now();
      const due = perSecond ? startedAt + (next / perSecond) * 1_000 : now;
      if (Math.max(due, now) >= startedAt + durationMs) return;
      const index = next++;
      while (performance.now() < due) await sleep(due - performance.now());
      try {
        await task(index);
        round.latenciesMs.push(performance.now() - due);
      } catch (error) {
        round.errors.push(messageOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  round.elapsedMs = performance.now() - startedAt;
  return round;
}
