import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../connections/database-errors.ts';
import { holdLease, leaseHolder, releaseLease } from '../connections/locks.ts';
import { openOverdue } from '../domain/discrepancies/overdue.ts';
import { bookCharges } from '../domain/gateway-accounts/charges.ts';
import { expireApprovals } from '../domain/staff/open-approvals.ts';
import { releaseBulkReplays, workBulkReplays } from '../domain/support/work-bulk-replays.ts';
import type { Walk } from '../domain/webhooks/admit-deliveries.ts';
import { giveUpWaiting, prepareDeliveries } from '../domain/webhooks/prepare-deliveries.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { Bell, Pace, RUNG_LOOPS } from '../jobs/bell.ts';
import type { BellLine, Listener } from '../jobs/bell-line.ts';
import {
  type AddedRows,
  dispatchOutbox,
  type RestingQueues,
  removeAdded,
  sendDueQuestions,
} from '../jobs/dispatch-outbox.ts';
import type { NextDue } from '../jobs/outbox.ts';
import { openQueueReader } from '../jobs/queue-reader.ts';
import { isCrowded, LOOK_INTERVAL_MS, type Rooms } from '../jobs/queue-rooms.ts';
import { openQueues } from '../jobs/queues.ts';
import { SWEEPER_LEASE, sweep } from '../jobs/sweeper.ts';
import { countEnded } from '../metrics/meters.ts';
import { addServiceGauges } from '../metrics/service-gauges.ts';
import type { Service } from '../service/service.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import { tellAccess } from './access-notices.ts';
import { watchRound } from './liveness.ts';
import { NOTICES_INTERVAL_MS, tellApproval, tellNotice, tellsNotices } from './notices.ts';
import {
  askForFloats,
  closeDaysOnSchedule,
  createPartitions,
  DAY_TICK_MS,
  FLOAT_TICK_MS,
  ledgerTickMs,
  PARTITIONS_INTERVAL_MS,
  RETENTION_TICK_MS,
  removeOldOnSchedule,
  STANDBY_TICK_MS,
  sealDaysOnSchedule,
  verifyOnSchedule,
  watchStandbys,
} from './schedules.ts';
import { mailSetUp } from './set-ups.ts';

/** A round that found something is likely to find more soon. A later round finds more at once. */
const BUSY_DELAY_MS = 25;
const IDLE_DELAY_MS = 250;
/** While somebody rings for each piece of work, looking is for the rings that are lost. */
const LISTENING_DELAY_MS = SECOND_MS;
/** Deadlines are minutes or hours. */
const OVERDUE_INTERVAL_MS = 10_000;
/** Webhooks wait for days before they are given up. */
const GIVE_UP_INTERVAL_MS = MINUTE_MS;
/** Long enough not to flood the log, short enough not to delay the work. */
const ERROR_DELAY_MS = 1_000;

/** The sweeper's lease outlives some rounds, so that only a holder that died loses it. */
const SWEEP_LEASE_ROUNDS = 3;

/**
 * Starts the dispatcher's loops: they move the outbox to the queues, give due questions their
 * jobs, number events and admit their deliveries, tell notices of outages, list overdue payments,
 * work off replays of many failed jobs, sweep up lost steps and run what is done on schedule.
 * Several dispatchers may run at once. Calls `onWork` for every round of the outbox that shows that
 * it works.
 * @returns the function that stops it after the rounds under way
 */
export function startDispatcher(
  service: Service,
  { backend, line }: Connections,
  onWork: () => void = () => {},
): () => Promise<void> {
  const { database, logger } = service;
  const queues = openQueues(backend, logger);
  // Watching uses the same queues, so that it takes no connections of its own.
  addServiceGauges(service, openQueueReader(backend, logger, queues));
  const holder = leaseHolder();
  const stopping = new AbortController();
  const resting: RestingQueues = new Map();
  const added: AddedRows = [];
  const rooms: Rooms = new Map();
  const nextLook: NextDue = { inMs: null };
  const dispatch = async () => {
    const moved = await dispatchOutbox(database, queues, resting, added, rooms);
    nextLook.inMs = isCrowded(rooms) ? LOOK_INTERVAL_MS : null;
    return moved;
  };
  const outbox = () => watchRound(dispatch, resting, onWork);
  const standbys = service.config.databaseSynchronousStandby ? watchStandbys(service) : null;
  const loops: Loop[] = [
    { name: 'outbox', idleMs: IDLE_DELAY_MS, round: outbox, next: nextLook },
    ...paymentLoops(service),
    ...noticeLoops(service),
    ...scheduledLoops(service, holder, stopping.signal),
    ...(standbys ? [every(STANDBY_TICK_MS, 'standbys', standbys.look)] : []),
  ];
  const bells = new Map(loops.map(({ name }) => [name, new Bell()]));
  const listener = line.listen((rung) => {
    service.meters.bellRings.inc();
    for (const name of rung) bells.get(name)!.ring();
  });
  const running = loops.map((loop) => repeat(service, loop, { bells, listener }, stopping.signal));
  return async () => {
    stopping.abort();
    for (const bell of bells.values()) bell.ring();
    await Promise.all(running);
    await listener.close();
    // If this fails, the jobs are added again when the lease ends. Their ids make that harmless.
    await removeAdded(database, added).catch(() => {});
    // Lets another dispatcher sweep at once. Otherwise it waits for the end of the lease.
    await releaseLease(database, SWEEPER_LEASE, holder).catch(() => {});
    await releaseBulkReplays(database, holder).catch(() => {});
    await standbys?.release().catch(() => {});
    await queues.close();
  };
}

/** What a dispatcher is connected to besides the database. */
export interface Connections {
  backend: QueueBackend;
  line: BellLine;
}

interface Loop {
  name: string;
  /** The pause after a round that found nothing. */
  idleMs: number;
  /** Returns how much it found. */
  round: () => Promise<number>;
  /** When its next work is due. It wakes then. */
  next?: NextDue;
  /** The loop that goes on with what a round found. */
  wakes?: 'outbox';
}

function paymentLoops({ database, config, meters }: Service): Loop[] {
  const onEnded = countEnded(meters);
  const walk: Walk = { after: null, inMs: null };
  const nextQuestion: NextDue = { inMs: null };
  const prepare = () => prepareDeliveries(database, config.concurrency.webhooks, onEnded, walk);
  const idleMs = IDLE_DELAY_MS;
  return [
    {
      ...{ name: 'questions', idleMs: LISTENING_DELAY_MS, wakes: 'outbox', next: nextQuestion },
      round: () => sendDueQuestions(database, nextQuestion),
    },
    { name: 'deliveries', idleMs, round: prepare, wakes: 'outbox', next: walk },
    { name: 'given up', idleMs: GIVE_UP_INTERVAL_MS, round: () => giveUpWaiting(database) },
    { name: 'overdue', idleMs: OVERDUE_INTERVAL_MS, round: () => openOverdue(database) },
  ];
}

function noticeLoops(service: Service): Loop[] {
  if (!tellsNotices(service)) return [];
  return [
    { name: 'notices', idleMs: NOTICES_INTERVAL_MS, round: () => tellNotice(service) },
    { name: 'approvals', idleMs: NOTICES_INTERVAL_MS, round: () => tellApproval(service) },
    { name: 'access', idleMs: NOTICES_INTERVAL_MS, round: () => tellAccess(service) },
    { name: 'set-ups', idleMs: NOTICES_INTERVAL_MS, round: () => mailSetUp(service) },
  ];
}

function every(idleMs: number, name: string, task: () => Promise<void>): Loop {
  return { name, idleMs, round: () => task().then(() => 0) };
}

function scheduledLoops(service: Service, holder: string, stopping: AbortSignal): Loop[] {
  const { database } = service;
  const replay = () => workBulkReplays({ database, holder, stopping }).then(() => {});
  return [
    every(SECOND_MS, 'bulk replays', replay),
    every(service.config.sweepIntervalMs, 'sweeper', () => sweepIfLeased(service, holder)),
    every(ledgerTickMs(service), 'ledger', () => verifyOnSchedule(service, stopping)),
    every(RETENTION_TICK_MS, 'retention', () => removeOldOnSchedule(service, stopping)),
    every(PARTITIONS_INTERVAL_MS, 'partitions', () => createPartitions(service)),
    every(FLOAT_TICK_MS, 'floats', () => askForFloats(service)),
    every(MINUTE_MS, 'expired approvals', () => expireApprovals(database).then(() => {})),
    every(DAY_TICK_MS, 'closed days', () => closeDaysOnSchedule(service)),
    every(DAY_TICK_MS, 'seals', () => sealDaysOnSchedule(service, stopping)),
    every(CHARGES_TICK_MS, 'charges', () =>
      bookCharges(database, service.config.gatewayCharges ?? []),
    ),
  ];
}

/** The time between two looks for charges to book. */
const CHARGES_TICK_MS = MINUTE_MS;

async function sweepIfLeased({ database, config, logger, meters }: Service, holder: string) {
  const leaseMs = config.sweepIntervalMs * SWEEP_LEASE_ROUNDS;
  if (!(await holdLease(database, SWEEPER_LEASE, holder, leaseMs))) return;
  const swept = await sweep(database, config.sweepGraceMs);
  meters.stepsSwept.inc(swept);
  if (swept > 0) logger.info('swept', { steps: swept });
}

/** Repeats a round until stopped: soon after one that found work, later after one without. */
async function repeat(
  { logger, meters }: Service,
  { name, idleMs, round, next, wakes }: Loop,
  { bells, listener }: { bells: ReadonlyMap<string, Bell>; listener: Listener },
  stopping: AbortSignal,
): Promise<void> {
  meters.dispatcherFailures.inc({ loop: name }, 0);
  const pace = new Pace(BUSY_DELAY_MS);
  const isRung = RUNG_LOOPS.some((each) => each === name);
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping }).catch(() => {});
  while (!stopping.aborted) {
    try {
      const found = await round();
      if (found > 0 && wakes) bells.get(wakes)!.ring();
      const quietMs = isRung && listener.isListening() ? LISTENING_DELAY_MS : idleMs;
      const waitMs = found > 0 ? BUSY_DELAY_MS : Math.min(quietMs, next?.inMs ?? quietMs);
      const waitsFrom = performance.now();
      if (!stopping.aborted) await bells.get(name)!.wait(Math.max(1, waitMs));
      const pauseMs = pace.next(performance.now() - waitsFrom);
      // A timer waits for 1 ms at least.
      if (pauseMs > 0) await pause(pauseMs);
    } catch (error) {
      meters.dispatcherFailures.inc({ loop: name });
      logger.warn('dispatcher round failed', { loop: name, error: messageOf(error) });
      await pause(ERROR_DELAY_MS);
    }
  }
}
