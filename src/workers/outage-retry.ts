import type { Job } from 'bullmq';

const OUTAGE_DELAY_MS = 2_000;
/** Most outages are over by then, and what waited for them should go on at once. */
const QUICK_PUT_OFFS = 5;
/** What an outage of hours costs at most when it ends. */
const MAX_OUTAGE_DELAY_MS = 60_000;

/**
 * For how long an outage puts a job off, in ms, that was put off so often before. It grows,
 * since a job may get as far as its call out each time: to a receiver, or to a gateway.
 */
export function outageDelayMs(putOffs: number): number {
  const doublings = Math.max(0, putOffs + 1 - QUICK_PUT_OFFS);
  return Math.min(OUTAGE_DELAY_MS * 2 ** doublings, MAX_OUTAGE_DELAY_MS);
}

/** How often a job that runs was put off before: begun, and neither tried nor under way. */
export function putOffsOf({ attemptsStarted, attemptsMade }: Job): number {
  return attemptsStarted - attemptsMade - 1;
}
