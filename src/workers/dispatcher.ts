import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction, rows } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { admitDeliveries } from '../domain/webhooks/admit-deliveries.ts';
import { numberEvents } from '../domain/webhooks/number-events.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { dispatchOutbox, type RestingQueues } from '../jobs/dispatch-outbox.ts';
import { holdLease, leaseHolder, releaseLease, SWEEPER_LEASE } from '../jobs/lease.ts';
import { openQueueStates } from '../jobs/queue-states.ts';
import { openQueues } from '../jobs/queues.ts';
import { sweep } from '../jobs/sweeper.ts';
import { addServiceGauges } from '../metrics/service-gauges.ts';
import type { Service } from '../process/boot.ts';
import { ledgerTickMs, verifyOnSchedule } from './ledger-schedule.ts';
import { noteRound } from './look-at-outbox.ts';
import { RETENTION_TICK_MS, removeOldOnSchedule } from './retention-schedule.ts';

/** After a round that found something there is likely more; after one that did not, it can wait. */
const BUSY_DELAY_MS = 10;
const IDLE_DELAY_MS = 250;
/** After an error: long enough not to flood the log, short enough not to matter. */
const ERROR_DELAY_MS = 1_000;

/** The sweeper's lease outlives a few of its rounds, so that it changes hands only when its holder dies. */
const SWEEP_LEASE_ROUNDS = 3;
const PARTITIONS_INTERVAL_MS = 600_000;
const PARTITION_MONTHS_AHEAD = 3;
/** There are months to try again; a table must not wait behind a long report meanwhile. */
const PARTITION_LOCK_TIMEOUT_MS = 500;
/** Tables by month, and the column that says which. */
const PARTITIONED_TABLES = { payment_history: 'happened_at', webhook_attempts: 'attempted_at' };

/**
 * Runs the dispatcher: the outbox goes to the queues, events are numbered, deliveries
 * admitted, and what was lost is swept up. Several may run; each loop bears it. Calls
 * `onWork` for every round of the outbox that shows that it works.
 * @returns how to stop it: rounds under way are finished.
 */
export function startDispatcher(
  service: Service,
  backend: QueueBackend,
  onWork: () => void = () => {},
): () => Promise<void> {
  const { database, config, logger, meters } = service;
  const queues = openQueues(backend, logger);
  // The same queues are looked at, so that watching them takes no connections of its own.
  addServiceGauges(service, openQueueStates({ ...backend, createQueue: queues.of }, logger));
  const resting: RestingQueues = new Map();
  const holder = leaseHolder();
  const stopping = new AbortController();
  const leaseMs = config.sweepIntervalMs * SWEEP_LEASE_ROUNDS;
  const loops = [
    loop(service, stopping.signal, 'outbox', IDLE_DELAY_MS, () =>
      noteRound(() => dispatchOutbox(database, queues, resting), resting, onWork),
    ),
    loop(service, stopping.signal, 'events', IDLE_DELAY_MS, () =>
      numberEvents(database, ({ kind, state, seconds }) =>
        meters.paymentsEnded.observe({ kind, state }, seconds),
      ),
    ),
    loop(service, stopping.signal, 'deliveries', IDLE_DELAY_MS, () =>
      admitDeliveries(database, config.webhookEndpointConcurrency),
    ),
    loop(service, stopping.signal, 'sweeper', config.sweepIntervalMs, async () => {
      if (!(await holdLease(database, SWEEPER_LEASE, holder, leaseMs))) return 0;
      const swept = await sweep(database, config.sweepGraceMs);
      meters.stepsSwept.inc(swept);
      if (swept > 0) logger.info('swept', { steps: swept });
      return 0;
    }),
    loop(service, stopping.signal, 'ledger', ledgerTickMs(service), () =>
      verifyOnSchedule(service, stopping.signal),
    ),
    loop(service, stopping.signal, 'retention', RETENTION_TICK_MS, () =>
      removeOldOnSchedule(service, stopping.signal),
    ),
    loop(service, stopping.signal, 'partitions', PARTITIONS_INTERVAL_MS, async () => {
      await makePartitions(service);
      return 0;
    }),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(loops);
    // Another dispatcher sweeps at once; without this the end of the lease would do it.
    await releaseLease(database, SWEEPER_LEASE, holder).catch(() => {});
    await queues.close();
  };
}

async function makePartitions({ database, logger }: Service): Promise<void> {
  for (const [table, column] of Object.entries(PARTITIONED_TABLES)) {
    await inTransaction(database, async (trx) => {
      await rows(trx, `SET LOCAL lock_timeout = ${PARTITION_LOCK_TIMEOUT_MS}`);
      await rows(trx, 'SELECT make_month_partitions(:table, :column, :months)', {
        table,
        column,
        months: PARTITION_MONTHS_AHEAD,
      });
    }).catch((error) => {
      logger.warn('partitions not made, will be tried again', { table, error: messageOf(error) });
    });
  }
}

/** Repeats `round` until stopped: soon after one that found work, later after one that did not. */
async function loop(
  { logger, meters }: Service,
  stopping: AbortSignal,
  name: string,
  idleMs: number,
  round: () => Promise<number>,
): Promise<void> {
  meters.dispatcherFailures.inc({ loop: name }, 0);
  while (!stopping.aborted) {
    const delayMs = await round().then(
      (found) => (found > 0 ? BUSY_DELAY_MS : idleMs),
      (error) => {
        meters.dispatcherFailures.inc({ loop: name });
        logger.warn('dispatcher round failed', { loop: name, error: messageOf(error) });
        return ERROR_DELAY_MS;
      },
    );
    await sleep(delayMs, undefined, { signal: stopping }).catch(() => {});
  }
}
