import { databaseFault } from '../connections/database-fault.ts';
import { allQueues, type QueueStates } from '../jobs/queue-states.ts';
import type { Service } from '../process/boot.ts';
import { addReadings, type Backend } from './scraped-gauges.ts';
import { eventsSource } from './service-wide/events.ts';
import { jobsSource } from './service-wide/jobs.ts';
import { ledgerSource } from './service-wide/ledger.ts';
import { openMattersSource } from './service-wide/open-matters.ts';
import { partitionsSource } from './service-wide/partitions.ts';
import { paymentsSource } from './service-wide/payments.ts';
import { queuesSource } from './service-wide/queues.ts';

/**
 * Adds what is so in the whole service, whichever process has made it so. Dispatchers show
 * it, each the same: it is read from the database and the queues, when somebody asks.
 */
export function watchService(
  { database, logger, gateways, meters }: Service,
  queues: Pick<QueueStates, 'read' | 'check'>,
  maxAgeMs?: number,
): void {
  const names = allQueues([...gateways.keys()]);
  const backends: Backend[] = [
    {
      up: { name: 'malipo_database_up', help: 'Whether the database answers and can be written' },
      check: () => databaseFault(database),
      sources: [
        paymentsSource(database),
        jobsSource(database),
        eventsSource(database),
        openMattersSource(database),
        ledgerSource(database),
        partitionsSource(database),
      ],
    },
    {
      up: { name: 'malipo_queue_backend_up', help: 'Whether the queues answer' },
      check: async () => {
        await queues.check(names[0]!);
        return null;
      },
      sources: [queuesSource(queues, names)],
    },
  ];
  addReadings(meters.registry, backends, logger, maxAgeMs);
}
