import type { WorkerOptions } from 'bullmq';

/** How long an idle worker on Redis sleeps before it looks again, if no sign reaches it. */
const IDLE_LOOK_S = 2;
/** A worker that dies has not failed its job. Only a job that kills every worker it meets gets this far. */
const MAX_STALLED = 100;
/** How long a worker waits after an error of its store. */
export const AFTER_ERROR_MS = 2_000;

/** What workers have in common on both backends. */
export function workerOptions(options: { concurrency: number; lockMs: number }) {
  return {
    concurrency: options.concurrency,
    lockDuration: options.lockMs,
    stalledInterval: options.lockMs,
    maxStalledCount: MAX_STALLED,
    drainDelay: IDLE_LOOK_S,
    runRetryDelay: AFTER_ERROR_MS,
  } satisfies Partial<WorkerOptions>;
}
