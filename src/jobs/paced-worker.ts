import { setTimeout as sleep } from 'node:timers/promises';
import { isNotConnectionError, type Job, Worker } from 'bullmq';
import type { JobData } from './job-types.ts';
import { AFTER_ERROR_MS } from './worker-options.ts';

/**
 * BullMQ's worker, which waits for AFTER_ERROR_MS after any error of its store. By itself
 * BullMQ does so only when a connection is refused: a store that answers with an error, as
 * one that starts up or has become a replica, would be asked again without pause.
 */
export class PacedWorker extends Worker<JobData> {
  readonly #closing = new AbortController();

  /** Jobs that run go on meanwhile; those that end free slots, which wait here as well. */
  protected override async moveToActive(token: string, name?: string): Promise<Job<JobData>> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      // After the others BullMQ waits by itself.
      if (isNotConnectionError(error as Error)) await this.delay();
      throw error;
    }
  }

  /** In ms; ends early when the worker closes, so that closing does not wait for it. */
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
