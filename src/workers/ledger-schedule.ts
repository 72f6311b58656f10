import { recordVerification } from '../domain/ledger/verification/last-verification.ts';
import { verifyLedger } from '../domain/ledger/verification/verify-ledger.ts';
import { holdLease, leaseHolder, releaseLease } from '../jobs/lease.ts';
import type { Service } from '../process/boot.ts';

/** The longest time between two checks whether a verification is due. */
const MAX_TICK_MS = 60_000;

export function ledgerTickMs({ config }: Service): number {
  return Math.min(config.ledgerVerifyIntervalMs, MAX_TICK_MS);
}

/**
 * Verifies the ledger when that is due, and writes what is wrong to the log and the
 * database. Nobody renews the lease: whoever finds it over does the next verification, so
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
