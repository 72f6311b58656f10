import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { poolOf } from '../connections/database.ts';
import {
  SECURITY_EVENT_KINDS,
  SECURITY_EVENTS,
  type SecurityEvent,
} from '../domain/security/security-events.ts';
import { DELIVERY_RESULTS } from '../domain/webhooks/delivery.ts';
import { END_STATES, ENDING_KINDS } from '../domain/webhooks/prepare-deliveries.ts';
import type { Service } from '../service/service.ts';
import { addGauges, type GaugeTable } from './gauges.ts';
import type { Meters } from './meters.ts';

const PROCESS_GAUGES: GaugeTable = {
  malipo_build_info: ['Always 1: one for each type that this process is of', 'version', 'type'],
  malipo_database_pool_connections: [
    'Database connections of this process, without the connections of a PostgreSQL queue backend',
    'state',
  ],
  malipo_database_pool_limit: ['Database connections that this process may have'],
  malipo_database_pool_waiting: ['Pieces of work that wait now for a database connection'],
};

/** The messages of the channel of security events. */
type Counted = Pick<SecurityEvent, 'kind'>;

/**
 * Adds version, memory, event loop and database connections to the registry of a process. Call
 * it once per process.
 * @param process the name that its log lines have; each value carries it as a label
 */
export function createMetrics(
  { meters, database, channels }: Pick<Service, 'meters' | 'database' | 'channels'>,
  process: string,
  types: readonly string[] = [process],
): Registry {
  const { registry } = meters;
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  const version = readVersion();
  const pool = poolOf(database);
  const show = addGauges(registry, PROCESS_GAUGES, () =>
    show([
      ...types.map((type) => ({ version, type, malipo_build_info: 1 })),
      { state: 'used', malipo_database_pool_connections: pool.numUsed() },
      { state: 'free', malipo_database_pool_connections: pool.numFree() },
      { malipo_database_pool_limit: pool.max },
      { malipo_database_pool_waiting: pool.numPendingAcquires() },
    ]),
  );
  SECURITY_EVENTS.subscribe((event) => meters.securityEvents.inc({ ...(event as Counted) }));
  startAtZero(meters, types, channels);
  return registry;
}

/** Adds which of this process's work is stuck. */
export function addStuckWork(
  registry: Registry,
  works: () => readonly { name: string; stuck: boolean }[],
): void {
  const help =
    '1 when work is due and the process has begun none of it for a minute, as /healthz says';
  const show = addGauges(registry, { malipo_work_stuck: [help, 'work'] }, () =>
    show(works().map(({ name, stuck }) => ({ work: name, malipo_work_stuck: stuck ? 1 : 0 }))),
  );
}

/** The package file is at the top of a checkout, and beside what was built. */
function readVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
    } catch {}
  }
  return 'unknown';
}

/** Shows a 0 of what alerts count: Prometheus notices a first event only as a rise. */
function startAtZero(
  meters: Meters,
  types: readonly string[],
  channels: Service['channels'],
): void {
  const { http, paymentsEnded, paymentsSettled, securityEvents, webhookAttempts } = meters;
  if (types.includes('web')) {
    http.refusals.inc({ code: 'channel_paused' }, 0);
  }
  if (types.includes('web') || types.includes('console')) {
    for (const kind of SECURITY_EVENT_KINDS) securityEvents.inc({ kind }, 0);
  }
  if (types.includes('dispatcher')) {
    for (const kind of ENDING_KINDS) {
      for (const state of END_STATES) paymentsEnded.zero({ kind, state });
    }
    for (const [channel, route] of channels) {
      for (const { gateway } of Object.values(route)) {
        for (const cause of ['callback', 'poll']) {
          paymentsSettled.inc({ channel, gateway, cause }, 0);
        }
      }
    }
  }
  if (types.includes('webhooks')) {
    for (const result of DELIVERY_RESULTS) webhookAttempts.zero({ result });
  }
}
