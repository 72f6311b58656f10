import { type Removed, runRetention } from '../domain/upkeep/run-retention.ts';
import { holdLease, leaseHolder } from '../jobs/lease.ts';
import type { Service } from '../process/boot.ts';

const INTERVAL_MS = 86_400_000;
/** How often it is asked whether a run is due. */
export const RETENTION_TICK_MS = 600_000;
/** After a run that did not come to its end. Not at once: what fails may be a long statement. */
const RETRY_MS = RETENTION_TICK_MS;
const BY = { actor: 'schedule', reason: 'Kept for long enough' };

/**
 * Deletes once a day what was kept for long enough. Nobody renews the lease, so it is the
 * schedule itself: whoever finds it over is the one to do it. Only a run that came to its end
 * is good for a day; after one that failed, was stopped or was killed another comes soon.
 * One that takes longer than that may get company from another dispatcher, which is harmless:
 * each takes batches that the other has not, and the day begins when one of them is done.
 * @returns 0: nothing more is to be done until it is due again.
 * @throws when a table could not be done; all others were, as the log says.
 */
export async function removeOldOnSchedule(service: Service, stopping: AbortSignal): Promise<0> {
  const { database } = service;
  const holder = leaseHolder();
  if (!(await holdLease(database, 'retention', holder, RETRY_MS))) return 0;
  const removed = await runRetention(database, BY, stopping);
  for (const each of removed) report(service, each);
  const failed = removed.filter(({ error }) => error !== null).map(({ table }) => table);
  const isDone = failed.length === 0 && !stopping.aborted;
  await holdLease(database, 'retention', holder, isDone ? INTERVAL_MS : RETRY_MS);
  if (failed.length > 0) throw new Error(`Old rows not removed from ${failed.join(', ')}`);
  return 0;
}

function report({ logger }: Service, { table, rows, months, busy, error }: Removed): void {
  if (rows > 0 || months.length > 0) logger.info('old rows removed', { table, rows, months });
  if (busy.length > 0) logger.warn('old months in use, not detached', { table, months: busy });
  if (error !== null) logger.warn('old rows not removed', { table, error });
}
