import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import type { AttemptOutcome } from './delivery.ts';

/** The state of a receiver (scheme, host and port of one merchant) after its attempts. */
export interface Endpoint {
  breaker: 'closed' | 'open';
  /** Deliveries that may be under way at once, whatever its share of the slots. */
  concurrency: number;
  /** Attempts that failed since the last one that did not. */
  failures: number;
  failing_since: Date | null;
  /** The last attempt had no answer in time. */
  times_out: boolean;
  last_status: number | null;
  last_error: string | null;
  last_failure_at: Date | null;
  last_success_at: Date | null;
  opened_at: Date | null;
  /** The number of probes that have failed since the breaker opened. */
  probes: number;
  probe_at: Date | null;
  /** When it was told in this outage that deliveries are given up. */
  told_exhausted_at: Date | null;
}

/** The failures in a row that open the breaker. */
export const OPENS_AFTER = 5;

/** Only its share limits a receiver that has answered this many deliveries in a row. */
export const FULL_CONCURRENCY = 32;

/** The waits before the first probe and after each one that failed; the last one repeats. */
export const PROBE_DELAYS_MS: readonly number[] = [
  10 * SECOND_MS,
  30 * SECOND_MS,
  1 * MINUTE_MS,
  2 * MINUTE_MS,
];

/** The changes that an attempt makes. The notices are kinds of `webhook_notices`. */
export interface EndpointChange {
  endpoint: Endpoint;
  notice: 'failing' | 'recovered' | null;
}

/**
 * Closes the breaker after an answer, and lets one more delivery go at once each time, so that a
 * receiver that comes back is not met by everything that waits.
 */
export function afterSuccess(endpoint: Endpoint, now: Date): EndpointChange {
  const wasOpen = endpoint.breaker === 'open';
  return {
    endpoint: {
      ...endpoint,
      breaker: 'closed',
      concurrency: wasOpen ? 1 : Math.min(FULL_CONCURRENCY, endpoint.concurrency + 1),
      failures: 0,
      failing_since: null,
      times_out: false,
      last_success_at: now,
      opened_at: null,
      probes: 0,
      probe_at: null,
    },
    notice: wasOpen ? 'recovered' : null,
  };
}

/** Halves what may go at once after a failure, opens the breaker, and puts off the next probe. */
export function afterFailure(
  endpoint: Endpoint,
  { status, error, timedOut }: AttemptOutcome,
  now: Date,
): EndpointChange {
  const failures = endpoint.failures + 1;
  const failed: Endpoint = {
    ...endpoint,
    concurrency: Math.max(1, Math.floor(endpoint.concurrency / 2)),
    failures,
    failing_since: endpoint.failing_since ?? now,
    times_out: timedOut,
    last_status: status,
    last_error: error,
    last_failure_at: now,
  };
  if (endpoint.breaker === 'open') return { endpoint: afterProbe(failed, now), notice: null };
  if (failures < OPENS_AFTER) return { endpoint: failed, notice: null };
  const open: Endpoint = {
    ...failed,
    breaker: 'open',
    concurrency: 1,
    opened_at: now,
    probes: 0,
    probe_at: later(now, PROBE_DELAYS_MS[0]!),
  };
  return { endpoint: open, notice: 'failing' };
}

/** An attempt that ends before a probe is due began before the breaker opened: it was no probe. */
function afterProbe(open: Endpoint, now: Date): Endpoint {
  if (open.probe_at! > now) return open;
  const probes = open.probes + 1;
  const delayMs = PROBE_DELAYS_MS[Math.min(probes, PROBE_DELAYS_MS.length - 1)]!;
  return { ...open, probes, probe_at: later(now, delayMs) };
}

function later(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}
