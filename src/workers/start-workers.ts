import type { QueueBackend } from '../jobs/backend.ts';
import { ALL_TYPES, queuesOf, type WorkerType } from '../jobs/job-types.ts';
import type { Service } from '../process/boot.ts';
import type { Closable } from '../process/lifecycle.ts';
import { startDispatcher } from './dispatcher.ts';
import type { WorkWatch } from './liveness.ts';
import { watchQueue } from './liveness-probes.ts';
import { lookAtOutbox } from './look-at-outbox.ts';
import { startWorker } from './run-worker.ts';

/** The process types of the Procfile that are not the web. */
export const PROCESS_TYPES = [
  'dispatcher',
  'submission',
  'settlement',
  'refunds',
  'webhooks',
] as const;
export type ProcessType = (typeof PROCESS_TYPES)[number];

/** What a process that runs these types is called: in logs, and by those who look for workers. */
export function processName(types: readonly ProcessType[]): string {
  return types.length === PROCESS_TYPES.length ? ALL_TYPES : types.join('+');
}

/**
 * Starts workers of these types in this process, each seen to by the `watch` if there is one.
 * @returns what to close, all at once.
 */
export function startWorkers(
  service: Service,
  backend: QueueBackend,
  types: readonly ProcessType[],
  watch?: WorkWatch,
): Closable[] {
  return types.flatMap((type) =>
    type === 'dispatcher'
      ? [dispatcherOf(service, backend, watch)]
      : workersOf(service, backend, type, watch),
  );
}

function dispatcherOf(service: Service, backend: QueueBackend, watch?: WorkWatch): Closable {
  const onWork = watch?.add('outbox', () => lookAtOutbox(service.database));
  return { name: 'dispatcher', close: startDispatcher(service, backend, onWork) };
}

function workersOf(
  service: Service,
  backend: QueueBackend,
  type: WorkerType,
  watch?: WorkWatch,
): Closable[] {
  return queuesOf(type, [...service.gateways.keys()]).map((queue) => {
    const worker = startWorker(service, backend, queue, service.config.concurrency[type]);
    if (watch) watchQueue(worker, watch);
    return { name: queue, close: () => worker.close() };
  });
}
