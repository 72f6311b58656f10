import { setTimeout as sleep } from 'node:timers/promises';
import { isNotConnectionError, type Job, Worker, type WorkerOptions } from 'bullmq';
import type { JobData } from './job-types.ts';

/** The sleep of an idle worker on Redis, unless a job wakes it. */
const IDLE_LOOK_S = 2;
/** Stalling is not the job's failure. Only a job that kills every worker gets this far. */
const MAX_STALLED = 100;
/** The pause of a worker after an error of its store. */
export const AFTER_ERROR_MS = 2_000;

/** Returns the options that workers have on both backends. */
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

/**
 * A BullMQ worker that waits after any error of its store. BullMQ itself waits only after a
 * refused connection. It asks a store that answers with an error again without a pause, for
 * example a store that starts up or has become a replica.
 */
export class PacedWorker extends Worker<JobData> {
  readonly #closing = new AbortController();

  /** Running jobs go on meanwhile. Slots that they free wait here as well. */
  protected override async moveToActive(token: string, name?: string): Promise<Job<JobData>> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      // BullMQ itself waits after the other errors.
      if (isNotConnectionError(error as Error)) await this.delay();
      throw error;
    }
  }

  /** Ends early when the worker closes, so that closing does not wait for it. */
  override async delay(
    milliseconds = AFTER_ERROR_MS,
    controller?: Parameters<Worker['delay']>[1],
  ): Promise<void> {
    if (controller) return super.delay(milliseconds, controller);
    await sleep(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  override async close(force?: boolean): Promise<void> {
    this.#closing.abort();
    await super.close(force);
  }
}
