import type { Worker } from 'bullmq';
import type { JobData } from '../jobs/job-types.ts';
import { inTime } from '../jobs/queues.ts';
import type { Finding } from './work-watch.ts';

/** Whoever asks for the health would rather hear that the queue is away than wait for it. */
const LOOK_TIMEOUT_MS = 3_000;

/**
 * What waits for a worker, delayed jobs that have come due included. Asked through the
 * worker's own connection: its health costs no other.
 * @throws when the queue does not answer
 */
export async function lookAtQueue(worker: Worker<JobData>): Promise<Finding> {
  if (worker.isPaused()) return 'paused';
  const backend = worker.getBackend();
  const answers = Promise.all([
    backend.getCounts(['waiting', 'delayed'], Date.now()),
    backend.hasQueueMetaField('paused'),
    backend.getRateLimitTtl(),
  ]);
  const [counts, isPaused, limitedForMs] = await inTime(answers, worker.name, LOOK_TIMEOUT_MS);
  if (isPaused) return 'paused';
  if (limitedForMs > 0) return 'rate limited';
  return counts.some((count) => count > 0) ? 'due' : 'nothing due';
}
