import type { Worker } from 'bullmq';
import { isReadOnlyError } from '../connections/database-errors.ts';
import { inTime } from '../connections/in-time.ts';
import type { JobData } from '../jobs/job-types.ts';
import type { Finding, WorkWatch } from './liveness.ts';

/** Whoever asks for the health would rather hear that the queue is away than wait for it. */
const LOOK_TIMEOUT_MS = 3_000;

/**
 * Has a worker watched: it works while it begins jobs, and it is no fault of its own that it
 * begins none while its queue can be looked at and not written.
 */
export function watchQueue(worker: Worker<JobData>, watch: WorkWatch): void {
  const onWork = watch.add(worker.name, () => lookAtQueue(worker));
  worker.on('active', onWork);
  worker.on('error', (error) => {
    if (isReadOnlyError(error)) onWork();
  });
}

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
  const late = `The queue ${worker.name} does not answer`;
  const [counts, isPaused, limitedForMs] = await inTime(answers, LOOK_TIMEOUT_MS, late);
  if (isPaused) return 'paused';
  if (limitedForMs > 0) return 'rate limited';
  return counts.some((count) => count > 0) ? 'due' : 'nothing due';
}
