import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { isOutage } from '../connections/database-errors.ts';
import { RECORDING_MARGIN_MS } from '../process/production-rules.ts';
import { MINUTE_MS } from '../time.ts';

const OUTAGE_DELAY_MS = 2_000;
/** Most outages are over by then. What waited for them should go on at once. */
const QUICK_RETRIES = 5;
/** The most that a job waits after the end of a long outage. */
const MAX_OUTAGE_DELAY_MS = MINUTE_MS;

const RECORDING_DELAY_MS = 1_000;
const RECORDING_TRIES = 1 + RECORDING_MARGIN_MS / RECORDING_DELAY_MS;

/**
 * Returns how long an outage delays a job that outages have delayed so often before, in ms.
 * The delay grows, because the job may call a gateway or a receiver each time.
 */
export function outageBackoffMs(earlierDelays: number): number {
  const doublings = Math.max(0, earlierDelays + 1 - QUICK_RETRIES);
  return Math.min(OUTAGE_DELAY_MS * 2 ** doublings, MAX_OUTAGE_DELAY_MS);
}

/** Counts the runs of a job that ended in a delay: begun, and neither tried nor under way. */
export function earlierDelaysOf({ attemptsStarted, attemptsMade }: Job): number {
  return attemptsStarted - attemptsMade - 1;
}

/** Runs `work`, and repeats it for some seconds while the database is away. */
export async function retryInOutage<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= RECORDING_TRIES || !isOutage(error)) throw error;
      await sleep(RECORDING_DELAY_MS);
    }
  }
}
