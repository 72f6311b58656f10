import type { Service } from '../boot.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { queuesOf, type WorkerType } from '../jobs/job-types.ts';
import type { Closable } from '../lifecycle.ts';
import { startDispatcher } from './dispatcher.ts';
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

/** Starts workers of these types in this process. @returns what to close, all at once. */
export function startWorkers(
  service: Service,
  backend: QueueBackend,
  types: readonly ProcessType[],
): Closable[] {
  return types.flatMap((type) =>
    type === 'dispatcher'
      ? [{ name: type, close: startDispatcher(service, backend) }]
      : workersOf(service, backend, type),
  );
}

function workersOf(service: Service, backend: QueueBackend, type: WorkerType): Closable[] {
  return queuesOf(type, [...service.gateways.keys()]).map((queue) => {
    const worker = startWorker(service, backend, queue, service.config.concurrency[type]);
    return { name: queue, close: () => worker.close() };
  });
}
