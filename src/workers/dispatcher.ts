import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../connections/database-errors.ts';
import { openOverdue } from '../domain/discrepancies/open-overdue.ts';
import { admitDeliveries } from '../domain/webhooks/admit-deliveries.ts';
import { numberEvents } from '../domain/webhooks/number-events.ts';
import { dispatchOutbox, type RestingQueues } from '../jobs/dispatch-outbox.ts';
import { holdLease, leaseHolder, releaseLease, SWEEPER_LEASE } from '../jobs/lease.ts';
import type { QueueBackend } from '../jobs/queue-backend.ts';
import { openQueueStates } from '../jobs/queue-states.ts';
import { openQueues } from '../jobs/queues.ts';
import { sweep } from '../jobs/sweeper.ts';
import { addServiceGauges } from '../metrics/service-gauges.ts';
import type { Service } from '../process/boot.ts';
import { ledgerTickMs, verifyOnSchedule } from './ledger-schedule.ts';
import { watchRound } from './liveness-probes.ts';
import { createPartitions, PARTITIONS_INTERVAL_MS } from './partition-schedule.ts';
import { RETENTION_TICK_MS, removeOldOnSchedule } from './retention-schedule.ts';

/** A round that found something is likely to find more at once. */
const BUSY_DELAY_MS = 10;
const IDLE_DELAY_MS = 250;
/** Deadlines are minutes or hours. */
const OVERDUE_INTERVAL_MS = 10_000;
/** Long enough not to flood the log, short enough not to delay the work. */
const ERROR_DELAY_MS = 1_000;

/** The sweeper's lease outlives some rounds, so that only a holder that died loses it. */
const SWEEP_LEASE_ROUNDS = 3;

/**
 * Starts the dispatcher's loops: they move the outbox to the queues, number events, admit
 * deliveries, list overdue payments, sweep up lost steps and run what is done on schedule. Several
 * dispatchers may run at once. Calls `onWork` for every round of the outbox that shows that it works.
 * @returns the function that stops it after the rounds under way
 */
export function startDispatcher(
  service: Service,
  backend: QueueBackend,
  onWork: () => void = () => {},
): () => Promise<void> {
  const { database, config, logger, meters } = service;
  const queues = openQueues(backend, logger);
  // Watching uses the same queues, so that it takes no connections of its own.
  addServiceGauges(service, openQueueStates(backend, logger, queues));
  const resting: RestingQueues = new Map();
  const holder = leaseHolder();
  const stopping = new AbortController();
  const { signal } = stopping;
  const poll = (name: string, round: () => Promise<number>) =>
    loop(service, signal, name, IDLE_DELAY_MS, round);
  const every = (intervalMs: number, name: string, task: () => Promise<void>) =>
    loop(service, signal, name, intervalMs, () => task().then(() => 0));
  const loops = [
    poll('outbox', () =>
      watchRound(() => dispatchOutbox(database, queues, resting), resting, onWork),
    ),
    poll('events', () =>
      numberEvents(database, ({ kind, state, seconds }) =>
        meters.paymentsEnded.observe({ kind, state }, seconds),
      ),
    ),
    poll('deliveries', () => admitDeliveries(database, config.webhookEndpointConcurrency)),
    loop(service, signal, 'overdue', OVERDUE_INTERVAL_MS, () => openOverdue(database)),
    every(config.sweepIntervalMs, 'sweeper', () => sweepIfLeased(service, holder)),
    every(ledgerTickMs(service), 'ledger', () => verifyOnSchedule(service, signal)),
    every(RETENTION_TICK_MS, 'retention', () => removeOldOnSchedule(service, signal)),
    every(PARTITIONS_INTERVAL_MS, 'partitions', () => createPartitions(service)),
  ];
  return async () => {
    stopping.abort();
    await Promise.all(loops);
    // Lets another dispatcher sweep at once. Otherwise it waits for the end of the lease.
    await releaseLease(database, SWEEPER_LEASE, holder).catch(() => {});
    await queues.close();
  };
}

async function sweepIfLeased({ database, config, logger, meters }: Service, holder: string) {
  const leaseMs = config.sweepIntervalMs * SWEEP_LEASE_ROUNDS;
  if (!(await holdLease(database, SWEEPER_LEASE, holder, leaseMs))) return;
  const swept = await sweep(database, config.sweepGraceMs);
  meters.stepsSwept.inc(swept);
  if (swept > 0) logger.info('swept', { steps: swept });
}

/** Repeats `round` until stopped: soon after a round that found work, later after one without. */
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
