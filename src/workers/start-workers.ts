import { v7 as uuidv7 } from 'uuid';
import { messageOf } from '../connections/database-errors.ts';
import { type Condition, createRedisProbe } from '../connections/redis.ts';
import { staffWarning } from '../domain/staff/staff.ts';
import {
  ANNOUNCE_INTERVAL_MS,
  announceWorker,
  withdrawWorker,
} from '../domain/webhooks/admit-deliveries.ts';
import { type QueueBackend, queueBackendOf } from '../jobs/backend.ts';
import { bellLineOf } from '../jobs/bell-line.ts';
import { ALL_TYPES, queuesOf, WORKER_TYPES, type WorkerType } from '../jobs/job-types.ts';
import type { Closable } from '../process/lifecycle.ts';
import { CALLBACK_BASE_UNKNOWN, type CallbackBase } from '../service/callback-base.ts';
import type { Service } from '../service/service.ts';
import { waitAtMost } from '../time.ts';
import { type Connections, startDispatcher } from './dispatcher.ts';
import { type Liveness, probeOutbox, watchWorker } from './liveness.ts';
import { startWorker } from './run-worker.ts';

/** The process types of the Procfile other than the web. */
export const PROCESS_TYPES = ['dispatcher', ...WORKER_TYPES] as const;
export type ProcessType = (typeof PROCESS_TYPES)[number];

/** Returns the name of a process that runs these types, for logs and for `countWorkers`. */
export function processName(types: readonly ProcessType[]): string {
  return types.length === PROCESS_TYPES.length ? ALL_TYPES : types.join('+');
}

/** Connects the bell of a process, and returns what its workers need besides the database. */
export async function connectWorkers(service: Service, name?: string): Promise<Connections> {
  const line = await bellLineOf(service);
  service.bell.connect(line.ring);
  return { backend: await queueBackendOf(service, name), line };
}

/**
 * Starts workers of these types in this process, and watches that each does its work.
 * @returns what to close, all at once
 */
export function startWorkers(
  service: Service,
  { backend, line }: Connections,
  types: readonly ProcessType[],
  liveness?: Liveness,
): Closable[] {
  const parts = types.flatMap((type) =>
    type === 'dispatcher'
      ? [dispatcherPart(service, { backend, line }, liveness)]
      : workerParts(service, backend, type, liveness),
  );
  return [...parts, { name: 'bell', close: line.close }];
}

function dispatcherPart(service: Service, connections: Connections, liveness?: Liveness): Closable {
  const onWork = liveness?.watch('outbox', () => probeOutbox(service.database));
  return { name: 'dispatcher', close: startDispatcher(service, connections, onWork) };
}

function workerParts(
  service: Service,
  backend: QueueBackend,
  type: WorkerType,
  liveness?: Liveness,
): Closable[] {
  const workers = queuesOf(type, [...service.gateways.keys()]).map((queue) => {
    const worker = startWorker(service, backend, queue, service.config.concurrency[type]);
    if (liveness) watchWorker(worker, liveness);
    return { name: queue, close: () => worker.close() };
  });
  return type === 'webhooks'
    ? [...workers, { name: 'slots of webhooks', close: announceSlots(service) }]
    : workers;
}

/**
 * Says in the database, every few seconds, how many webhooks this process can have under way. The
 * dispatcher shares these slots out among the endpoints.
 * @returns the function that stops it
 */
function announceSlots({ database, logger, config }: Service): () => Promise<void> {
  const worker = { id: uuidv7(), slots: config.concurrency.webhooks };
  const announce = () =>
    announceWorker(database, worker).catch((error) =>
      // Nothing is lost: the slots of other workers count, or the slots of one.
      logger.debug('slots not announced', { error: messageOf(error) }),
    );
  let announcing = announce();
  const timer = setInterval(() => {
    announcing = announcing.then(announce);
  }, ANNOUNCE_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await announcing;
    await withdrawWorker(database, worker.id).catch(() => {});
  };
}

/** Tells whether a process of these types sends payments to gateways. `refunds` sends returns. */
export function submits(types: readonly ProcessType[]): boolean {
  return types.includes('submission') || types.includes('refunds');
}

/** Shorter than load balancers wait. */
const ANSWER_TIMEOUT_MS = 2_000;

/** Returns undefined while nobody can tell. */
function knownBase(callbackBase: CallbackBase): Promise<string | null | undefined> {
  return waitAtMost(callbackBase.find(), ANSWER_TIMEOUT_MS, 'no answer').catch(() => undefined);
}

/**
 * Returns what a worker or dispatcher needs besides the database: a Redis, if there is one, that
 * takes its jobs and keeps them; and, if it submits, an address for callbacks.
 */
export function workerCondition(
  { config, callbackBase, database }: Service,
  types: readonly ProcessType[],
): () => Promise<Condition> {
  const probe = config.redisUrl ? createRedisProbe(config) : null;
  return async () => {
    const [redis, staff, base] = await Promise.all([
      probe?.(),
      // While the database does not answer, that is the reason.
      staffWarning(database, config).catch(() => null),
      submits(types) ? knownBase(callbackBase) : undefined,
    ]);
    const problems = [base === null ? CALLBACK_BASE_UNKNOWN : null, redis?.problem ?? null];
    const told = problems.filter((line) => line !== null);
    return {
      problem: told.length > 0 ? told.join('. ') : null,
      warnings: [...(redis?.warnings ?? []), ...(staff ? [staff] : [])],
    };
  };
}
