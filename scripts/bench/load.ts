import { setTimeout as sleep } from 'node:timers/promises';
import autocannon, { type Options, type Request } from 'autocannon';
import { messageOf } from '../../src/connections/database-errors.ts';
import type { Round } from './report.ts';

/** The service itself ends every statement long before. */
const TIMEOUT_S = 30;
/** How often autocannon looks whether it is done. */
const LOOK_INTERVAL_MS = 50;

/** Ends after `amount` answers, or else after `duration` seconds. */
interface RequestLoad extends Pick<Options, 'connections' | 'amount' | 'duration'> {
  /** Writes each request. */
  request?(): Request;
}

/** Has callers send the next request when they have the answer to the last. All but a 200 is an error. */
export function runRequests(url: string, load: RequestLoad): Promise<Round> {
  const { request = () => ({}), ...bounds } = load;
  const round = emptyRound();
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const setupRequest = (defaults: Request) => ({ ...defaults, ...request() });
    const limits = { timeout: TIMEOUT_S, sampleInt: LOOK_INTERVAL_MS };
    const options = { url, ...bounds, ...limits, requests: [{ setupRequest }] };
    const instance = autocannon(options, (error) => (error ? reject(error) : resolve(round)));
    // Its own histogram knows whole milliseconds only.
    instance.on('response', (_client, status, _bytes, latencyMs) => {
      if (status === 200) round.latenciesMs.push(latencyMs);
      else countError(round, `HTTP status ${status}`);
      round.elapsedMs = performance.now() - startedAt;
    });
    instance.on('reqError', (error) => countError(round, messageOf(error)));
  });
}

/** Ends at the first of both bounds. */
export interface TaskLoad {
  count?: number;
  durationMs?: number;
  /** So many are under way at once at most. */
  concurrency: number;
  /**
   * Begun at this constant rate, however long each takes; latencies count from when one was
   * due. (Autocannon sends all of a second at once.) Absent: each after the end of another.
   */
  perSecond?: number;
}

/** Does a task again and again. @param task gets a number of its own, and throws when it fails */
export async function runTasks(
  task: (index: number) => Promise<unknown>,
  { count = Infinity, durationMs = Infinity, concurrency, perSecond }: TaskLoad,
): Promise<Round> {
  const round = emptyRound();
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
        countError(round, messageOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  round.elapsedMs = performance.now() - startedAt;
  return round;
}

function emptyRound(): Round {
  return { latenciesMs: [], elapsedMs: 0, errors: 0, firstError: null };
}

function countError(round: Round, problem: string): void {
  round.errors += 1;
  round.firstError ??= problem;
}
