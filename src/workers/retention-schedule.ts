import { type Removed, runRetention } from '../domain/upkeep/run-retention.ts';
import { holdLease, leaseHolder } from '../jobs/lease.ts';
import type { Service } from '../process/boot.ts';

const INTERVAL_MS = 86_400_000;
/** The time between two checks whether a run is due. */
export const RETENTION_TICK_MS = 600_000;
/** The wait after an unfinished run. Not shorter: a long statement may be what fails. */
const RETRY_MS = RETENTION_TICK_MS;
const BY = { actor: 'schedule', reason: 'Kept for long enough' };

/**
 * Deletes old rows once a day. Nobody renews the lease: whoever finds it over does the next
 * run. Only a finished run counts for the day. After a run that failed, was stopped or was
 * killed, another one comes soon. Two runs at once are harmless: each takes batches that the
 * other has not taken.
 * @throws when a table could not be done. All others were done, as the log says.
 */
export async function removeOldOnSchedule(service: Service, stopping: AbortSignal): Promise<void> {
  const { database } = service;
  const holder = leaseHolder();
  if (!(await holdLease(database, 'retention', holder, RETRY_MS))) return;
  const removed = await runRetention(database, BY, stopping);
  for (const each of removed) report(service, each);
  const failed = removed.filter(({ error }) => error !== null).map(({ table }) => table);
  const isDone = failed.length === 0 && !stopping.aborted;
  await holdLease(database, 'retention', holder, isDone ? INTERVAL_MS : RETRY_MS);
  if (failed.length > 0) throw new Error(`Old rows not removed from ${failed.join(', ')}`);
}

function report({ logger }: Service, { table, rows, months, busy, error }: Removed): void {
  if (rows > 0 || months.length > 0) logger.info('old rows removed', { table, rows, months });
  if (busy.length > 0) logger.warn('old months in use, not detached', { table, months: busy });
  if (error !== null) logger.warn('old rows not removed', { table, error });
}
