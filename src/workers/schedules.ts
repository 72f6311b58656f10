import { databaseNow, inTransaction, rows } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { holdLease, leaseHolder, releaseLease } from '../connections/locks.ts';
import { closeDays } from '../domain/gateway-accounts/close-day.ts';
import { recordVerification } from '../domain/ledger/verification/checkpoints.ts';
import { verifyLedger } from '../domain/ledger/verification/verify-ledger.ts';
import { sealDays } from '../domain/seals/seal-days.ts';
import { exportSeals } from '../domain/seals/seals-file.ts';
import { type Removed, runRetention } from '../domain/upkeep/run-retention.ts';
import { createStandbyWatch } from '../domain/upkeep/synchronous-standby.ts';
import { type FloatSource, floatUrl } from '../gateways/callback-address.ts';
import type { Service } from '../service/service.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

/** The time between two questions about one account. */
const FLOAT_INTERVAL_MS = 5 * MINUTE_MS;
/** The time between two looks whether a question is due. */
export const FLOAT_TICK_MS = MINUTE_MS;

/**
 * Asks the gateways for the money from which payouts go. Nobody renews a lease: whichever
 * dispatcher finds it over asks next. The answers come as callbacks.
 */
export async function askForFloats(service: Service): Promise<void> {
  const { database, config, logger, gateways, callbackBase } = service;
  const base = await callbackBase.find();
  if (base === null) return;
  for (const { name, float } of gateways.values()) {
    if (!float) continue;
    if (!(await holdLease(database, `float-${name}`, leaseHolder(), FLOAT_INTERVAL_MS))) continue;
    const askedAt = await databaseNow(database);
    const urlOf = (use: FloatSource['use']) =>
      floatUrl(base, config.secretsKeys, name, { use, askedAt });
    const problem = await float.ask(urlOf('float'), urlOf('float-timeout'));
    if (problem !== null) logger.warn('float not known', { gateway: name, reason: problem });
  }
}

/** The time between two looks whether a day is to be closed. */
export const DAY_TICK_MS = 10 * MINUTE_MS;

/** Closes the days until yesterday, and logs what differs. */
export async function closeDaysOnSchedule({ database, gateways, logger }: Service): Promise<void> {
  for (const closed of await closeDays(database, gateways.values())) {
    if (closed.agrees) logger.info('the day agrees with the world', { day: closed.day });
    else logger.error('the day does not agree with the world', { ...closed });
  }
}

/** Seals the days until yesterday, and brings the operator's file of seals up to date. */
export async function sealDaysOnSchedule(
  { database, config }: Service,
  stopping: AbortSignal,
): Promise<void> {
  await sealDays(database, stopping);
  if (config.sealsFolder) await exportSeals(database, config.sealsFolder);
}

/** The longest time between two checks whether a verification is due. */
const MAX_TICK_MS = MINUTE_MS;

export function ledgerTickMs({ config }: Service): number {
  return Math.min(config.ledgerVerifyIntervalMs, MAX_TICK_MS);
}

/**
 * Verifies the ledger when that is due, and writes what is wrong to the log and the
 * database. Nobody renews the lease: the process that finds it over does the next verification, so
 * restarts of processes do not change the schedule.
 */
export async function verifyOnSchedule(service: Service, stopping: AbortSignal): Promise<void> {
  const { database, config, logger } = service;
  const holder = leaseHolder();
  const isDue = await holdLease(database, 'ledger', holder, config.ledgerVerifyIntervalMs);
  if (!isDue) return;
  const verification = await verifyLedger(database, { signal: stopping }).catch(async (error) => {
    // Tries again soon, and not only after a whole interval.
    await releaseLease(database, 'ledger', holder).catch(() => {});
    throw error;
  });
  for (const found of verification.breaks) logger.error('the books are wrong', { ...found });
  await recordVerification(database, verification);
  logger.info('ledger verified', { ...verification.checked });
}

export const PARTITIONS_INTERVAL_MS = 10 * MINUTE_MS;
const MONTHS_AHEAD = 3;
/** A later round tries again: other work on the table must not wait for this lock. */
const LOCK_TIMEOUT_MS = 500;
/** Tables with a partition for each month, and the column that decides on the month. */
const PARTITIONED_TABLES = { payment_history: 'happened_at', webhook_attempts: 'attempted_at' };

/** Creates the partitions of the months to come. Logs a table that is in use. */
export async function createPartitions({ database, logger }: Service): Promise<void> {
  for (const [table, column] of Object.entries(PARTITIONED_TABLES)) {
    await inTransaction(database, async (trx) => {
      await rows(trx, `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const bindings = { table, column, months: MONTHS_AHEAD };
      await rows(trx, 'SELECT make_month_partitions(:table, :column, :months)', bindings);
    }).catch((error) => {
      logger.warn('partitions not made, will be tried again', { table, error: messageOf(error) });
    });
  }
}

const RETENTION_INTERVAL_MS = DAY_MS;
/** The time between two checks whether a run is due. */
export const RETENTION_TICK_MS = 10 * MINUTE_MS;
/** The wait after an unfinished run. Not shorter: a long statement may be what fails. */
const RETRY_MS = RETENTION_TICK_MS;
const BY = { actor: 'schedule', reason: 'Kept for long enough' };

/**
 * Deletes old rows once a day. Nobody renews the lease: the process that finds it over does the next
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
  await holdLease(database, 'retention', holder, isDone ? RETENTION_INTERVAL_MS : RETRY_MS);
  if (failed.length > 0) throw new Error(`Old rows not removed from ${failed.join(', ')}`);
}

function report({ logger }: Service, { table, rows, months, busy, error }: Removed): void {
  if (rows > 0 || months.length > 0) logger.info('old rows removed', { table, rows, months });
  if (busy.length > 0) logger.warn('old months in use, not detached', { table, months: busy });
  if (error !== null) logger.warn('old rows not removed', { table, error });
}

/** The time between two looks at the standbys of PostgreSQL. */
export const STANDBY_TICK_MS = 2 * SECOND_MS;

/** Returns a watch over the standbys of PostgreSQL, which may let payments go on. Each new finding is a line of the log. */
export function watchStandbys({ database, config, logger }: Service) {
  const { look, release } = createStandbyWatch(database);
  let said: string | null = null;
  return {
    look: async () => {
      // An operator has stopped everything, and decides.
      if (config.submissionPaused) return;
      const found = await look();
      const line = found?.line ?? null;
      if (found && line !== said) logger[found.isBad ? 'warn' : 'info'](found.line);
      said = line;
    },
    release,
  };
}
