import type { QueueBackend } from '../jobs/queue-backend.ts';
import type { Service } from '../process/boot.ts';

/** Opens the queues. Loads their clients only here: they are large, and --help needs none. */
export async function loadQueueBackend(service: Service): Promise<QueueBackend> {
  const { queueBackendOf } = await import('../jobs/backend.ts');
  return queueBackendOf(service);
}
