import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { refundPayout } from '../domain/settlement/refund-payout.ts';
import type { Service } from '../process/boot.ts';

/** Puts the money of one failed payout back into its wallet. @returns whether it did. */
export async function refundFailedPayout(
  { database, config, logger, parserOf }: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<boolean> {
  const isRefunded = await refundPayout(database, ref, stepNo, {
    parserOf,
    allPaused: config.submissionPaused,
  });
  if (isRefunded) logger.info('refunded', { kind: ref.kind });
  return isRefunded;
}
