import type { Registry } from 'prom-client';
import { inTransaction, rows, type Transaction } from '../connections/database.ts';
import { databaseFault } from '../connections/readiness.ts';
import { allQueues } from '../jobs/job-types.ts';
import type { QueueReader } from '../jobs/queue-reader.ts';
import type { Service } from '../service/service.ts';
import { SECOND_MS } from '../time.ts';
import { DATABASE_GAUGES, type DatabaseGauges } from './database-gauges.ts';
import {
  addGauges,
  addScrapedGauges,
  type GaugeTable,
  type Reading,
  type Source,
} from './gauges.ts';

/** Adds what the operator has said of the accounts with gateways, for alerts to compare with. */
function addAccountGauges(registry: Registry, gateways: Service['gateways']): void {
  const show = addGauges(registry, ACCOUNT_GAUGES, () =>
    show(
      [...gateways.values()].flatMap(({ name: gateway, float, passwordEndsAt }) => [
        ...(float?.alertBelowCents != null
          ? [{ gateway, malipo_gateway_float_limit_cents: float.alertBelowCents }]
          : []),
        ...(passwordEndsAt
          ? [{ gateway, [PASSWORD_END]: passwordEndsAt.getTime() / SECOND_MS }]
          : []),
      ]),
    ),
  );
}

const PASSWORD_END = 'malipo_gateway_password_end_timestamp_seconds';

const ACCOUNT_GAUGES: GaugeTable = {
  malipo_gateway_float_limit_cents: ['An alert comes below this float, in cents', 'gateway'],
  [PASSWORD_END]: ["When the account's password ends, in seconds since 1970", 'gateway'],
};

/** Watching must not add to the load of a slow database. */
const STATEMENT_TIMEOUT_MS = 2_000;

/** Adds the gauges of the whole service. Only dispatchers show them, each the same values. */
export function addServiceGauges(
  { database, logger, gateways, meters }: Service,
  queues: Pick<QueueReader, 'read' | 'check'>,
  maxAgeMs?: number,
): void {
  const names = allQueues([...gateways.keys()]);
  const databaseBackend = {
    up: { name: 'malipo_database_up', help: 'Whether the database answers and can be written' },
    check: () => databaseFault(database),
    sources: Object.entries(DATABASE_GAUGES).map(([name, gauges]) => ({
      name,
      gauges: gauges.gauges,
      read: () => inTransaction(database, (trx) => readAll(trx, gauges)),
    })),
  };
  const queueBackend = {
    up: { name: 'malipo_queue_backend_up', help: 'Whether the queues answer' },
    check: () => queues.check(names[0]!).then(() => null),
    sources: [queueSource(queues, names)],
  };
  addScrapedGauges(meters.registry, [databaseBackend, queueBackend], logger, maxAgeMs);
  addAccountGauges(meters.registry, gateways);
}

/** Reads gauges in a transaction of their own, and gives up on a statement that takes long. */
export async function readAll(
  trx: Transaction,
  { sql = [], read }: DatabaseGauges,
): Promise<Reading[]> {
  await rows(trx, `SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
  const readings = (await read?.(trx)) ?? [];
  for (const statement of sql) readings.push(...(await rows<Reading>(trx, statement)));
  return readings;
}

function queueSource(queues: Pick<QueueReader, 'read'>, names: readonly string[]): Source {
  return {
    name: 'queues',
    gauges: {
      malipo_queue_jobs: ['Jobs: waiting, active, or delayed until due', 'queue', 'state'],
      malipo_queue_oldest_waiting_seconds: ['How long the first waiting job has been due', 'queue'],
      malipo_queue_workers: ['Workers that are connected to take jobs from a queue', 'queue'],
      malipo_queue_paused: ['1 when somebody has paused the queue itself', 'queue'],
    },
    read: async () => {
      const states = await Promise.all(names.map((name) => queues.read(name)));
      return states.flatMap(({ queue, waiting, active, delayed, ...state }) => [
        { queue, state: 'waiting', malipo_queue_jobs: waiting },
        { queue, state: 'active', malipo_queue_jobs: active },
        { queue, state: 'delayed', malipo_queue_jobs: delayed },
        {
          queue,
          malipo_queue_oldest_waiting_seconds: (state.oldestWaitingMs ?? 0) / 1_000,
          malipo_queue_workers: state.workers,
          malipo_queue_paused: state.isPaused ? 1 : 0,
        },
      ]);
    },
  };
}
