import { randomUUID } from 'node:crypto';
import type { Service } from '../boot.ts';
import { runRetention } from '../domain/retention/run-retention.ts';
import { holdLease, releaseLease } from '../jobs/lease.ts';

const INTERVAL_MS = 86_400_000;
/** How often it is asked whether a run is due. */
export const RETENTION_TICK_MS = 600_000;
const BY = { actor: 'schedule', reason: 'Kept for long enough' };

/**
 * Deletes once a day what was kept for long enough. Nobody renews the lease, so it is the
 * schedule itself: whoever finds it over is the one to do it.
 * @returns 0: nothing more is to be done until it is due again.
 */
export async function removeOldOnSchedule(service: Service, stopping: AbortSignal): Promise<0> {
  const { database, logger } = service;
  const holder = randomUUID();
  if (!(await holdLease(database, 'retention', holder, INTERVAL_MS))) return 0;
  const removed = await runRetention(database, BY, stopping).catch(async (error) => {
    await releaseLease(database, 'retention', holder).catch(() => {});
    throw error;
  });
  for (const { table, rows, months } of removed) {
    if (rows > 0 || months.length > 0) logger.info('old rows removed', { table, rows, months });
  }
  return 0;
}
