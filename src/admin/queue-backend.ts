import type { QueueBackend } from '../jobs/backend.ts';
import type { Service } from '../service/service.ts';

/** Opens the queues. Loads their clients only here: they are large, and --help needs none. */
export async function loadQueueBackend(service: Service): Promise<QueueBackend> {
  const { queueBackendOf } = await import('../jobs/backend.ts');
  return queueBackendOf(service);
}
