import type { EndedPayment } from '../domain/webhooks/number-events.ts';
import type { Meters } from './meters.ts';

/** Merchants with values of their own: each costs memory here and in Prometheus. */
export const MAX_MERCHANTS = 500;
const OTHERS = 'other';

/** Returns what counts a payment that has ended. The merchants after the first 500 count as one. */
export function countEnded(meters: Meters): (ended: EndedPayment) => void {
  const known = new Set<number>();
  const nameOf = (merchantId: number) => {
    if (known.size < MAX_MERCHANTS) known.add(merchantId);
    return known.has(merchantId) ? merchantId : OTHERS;
  };
  return ({ kind, state, merchant_id, channel, gateway, cause, seconds }) => {
    meters.paymentsEnded.observe({ kind, state }, seconds);
    meters.merchantPayments.observe({ merchant: nameOf(merchant_id), channel, state }, seconds);
    meters.paymentsSettled.inc({ channel, gateway, cause: cause ?? 'unknown' });
  };
}
