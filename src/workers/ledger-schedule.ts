import { recordVerification } from '../domain/ledger/verification/last-verification.ts';
import { verifyLedger } from '../domain/ledger/verification/verify-ledger.ts';
import { holdLease, leaseHolder, releaseLease } from '../jobs/lease.ts';
import type { Service } from '../process/boot.ts';

/** How often at least it is asked whether a verification is due. */
const MAX_TICK_MS = 60_000;

export function ledgerTickMs({ config }: Service): number {
  return Math.min(config.ledgerVerifyIntervalMs, MAX_TICK_MS);
}

/**
 * Proves the books when that is due, and says in the log and in the database what is wrong.
 * Nobody renews the lease, so it is the schedule itself: whoever finds it over is the one
 * to do it, however often processes start anew.
 * @returns 0: nothing more is to be done until it is due again.
 */
export async function verifyOnSchedule(service: Service, stopping: AbortSignal): Promise<0> {
  const { database, config, logger } = service;
  const holder = leaseHolder();
  const isDue = await holdLease(database, 'ledger', holder, config.ledgerVerifyIntervalMs);
  if (!isDue) return 0;
  const verification = await verifyLedger(database, { signal: stopping }).catch(async (error) => {
    // What could not be proven now is tried again soon, and not at the next appointment.
    await releaseLease(database, 'ledger', holder).catch(() => {});
    throw error;
  });
  for (const { merchant_id, ...found } of verification.breaks) {
    logger.error('the books are wrong', { merchant_id, ...found });
  }
  await recordVerification(database, verification);
  logger.info('ledger verified', { ...verification.checked });
  return 0;
}
