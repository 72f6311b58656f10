import { inTransaction, rows, type Transaction } from '../connections/database.ts';
import { databaseFault } from '../connections/database-fault.ts';
import { allQueues, type QueueStates } from '../jobs/queue-states.ts';
import type { Service } from '../process/boot.ts';
import { addAccountGauges } from './account-gauges.ts';
import { DATABASE_GAUGES, type DatabaseGauges } from './database-gauges.ts';
import { addScrapedGauges, type Reading, type Source } from './gauges.ts';

/** Watching must not add to the load of a slow database. */
const STATEMENT_TIMEOUT_MS = 2_000;

/** Adds the gauges of the whole service. Only dispatchers show them, each the same values. */
export function addServiceGauges(
  { database, logger, gateways, meters }: Service,
  queues: Pick<QueueStates, 'read' | 'check'>,
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

function queueSource(queues: Pick<QueueStates, 'read'>, names: readonly string[]): Source {
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
