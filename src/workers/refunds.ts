import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { refundPayout } from '../domain/settlement/refund-payout.ts';
import type { Service } from '../process/boot.ts';

/** Puts the money of one failed payout back. */
export async function refund(
  { database, config, logger }: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<void> {
  const allPaused = config.submissionPaused;
  if (await refundPayout(database, ref, stepNo, { allPaused }))
    logger.info('refunded', { kind: ref.kind });
}
