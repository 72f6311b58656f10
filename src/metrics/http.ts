import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** From an answer out of memory to a reversal that waits for its gateway. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** What the web process counts as it answers. */
export function httpMeters(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Histogram({
      name: 'malipo_http_request_duration_seconds',
      help: 'Requests answered, from their first byte to the end of the answer',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: SECONDS,
      registers,
    }),
    refusals: new Counter<'code'>({
      name: 'malipo_http_refusals_total',
      help: 'Requests refused, by the code of the refusal',
      labelNames: ['code'] as const,
      registers,
    }),
    reversalWaiters: new Gauge({
      name: 'malipo_http_reversal_waiters',
      help: 'Requests that wait now for the gateway to acknowledge a reversal',
      registers,
    }),
    reversalWaitersRefused: new Counter({
      name: 'malipo_http_reversal_waiters_refused_total',
      help: 'Reversals refused because too many requests were waiting',
      registers,
    }),
  };
}

export type HttpMeters = ReturnType<typeof httpMeters>;
