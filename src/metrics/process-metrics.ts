import type { Registry } from 'prom-client';
import { DELIVERY_RESULTS } from '../domain/webhooks/delivery.ts';
import { END_STATES, ENDING_KINDS } from '../domain/webhooks/number-events.ts';
import type { Service } from '../process/boot.ts';
import type { Meters } from './meters.ts';
import { addProcessMetrics } from './process.ts';

/**
 * All that a process of these types shows: what it counts as it works, what it is and how
 * it is; a dispatcher has added the state of the whole service. Once per process.
 * @param process as the log calls it; each value carries it as a label.
 */
export function createMetrics(
  { meters, database }: Pick<Service, 'meters' | 'database'>,
  process: string,
  types: readonly string[] = [process],
): Registry {
  meters.registry.setDefaultLabels({ process });
  addProcessMetrics(meters.registry, types, database);
  beginAtZero(meters, types);
  return meters.registry;
}

/** Prometheus sees a first event only as a rise, so what alerts count shows a 0 before it. */
function beginAtZero(
  { http, paymentsEnded, webhookAttempts }: Meters,
  types: readonly string[],
): void {
  if (types.includes('web')) http.refusals.inc({ code: 'channel_paused' }, 0);
  if (types.includes('dispatcher')) {
    for (const kind of ENDING_KINDS) {
      for (const state of END_STATES) paymentsEnded.zero({ kind, state });
    }
  }
  if (types.includes('webhooks')) {
    for (const result of DELIVERY_RESULTS) webhookAttempts.zero({ result });
  }
}
