import { queueOf } from '../../jobs/job-types.ts';
import type { StepChange } from '../../jobs/outbox.ts';
import { MINUTE_MS } from '../../time.ts';
import type { AnyPayment } from './payment-store.ts';

/** The delays before the same reference goes again after it was not taken. The last one repeats. */
const RESUBMIT_DELAYS_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000, 300_000];

/** Questions come at half of the payment's age, and at most this far apart. */
const MAX_POLL_DELAY_MS = MINUTE_MS;
/** The same after the deadline. The gateway is asked until its definite word. */
const OVERDUE_POLL_DELAY_MS = 10 * MINUTE_MS;

/** Asks the gateway, after `firstMs` at the earliest. A parked payment stays parked. */
export function pollStep(payment: AnyPayment, firstMs: number, now = Date.now()): StepChange {
  if (payment.parked_reason !== null) return { park: payment.parked_reason };
  const age = now - payment.created_at.getTime();
  const isLate =
    payment.overdue || (payment.status === 'failed' && payment.deadline_at.getTime() < now);
  const longest = isLate ? OVERDUE_POLL_DELAY_MS : MAX_POLL_DELAY_MS;
  return { ...POLL_NOW, delayMs: Math.max(firstMs, Math.min(age / 2, longest)) };
}

/** Asks the gateway at once, also about a parked payment, because support decided so. */
export const POLL_NOW = { next: 'poll', queue: null, delayMs: 0 } as const;

/**
 * Asks again as soon as after a submission. The payment may never have arrived, and its
 * customer waits for the prompt.
 */
export function pollSoonStep(payment: AnyPayment, firstMs: number): StepChange {
  const step = pollStep(payment, firstMs);
  return step !== 'none' && 'next' in step && !payment.overdue
    ? { ...step, delayMs: firstMs }
    : step;
}

/**
 * Submits now, or by the ladder after attempt `attemptNo` was not taken.
 * @param retryAfterMs replaces the ladder's delay, if the gateway has told us when.
 */
export function submitStep(payment: AnyPayment, attemptNo = 0, retryAfterMs?: number): StepChange {
  const rung = Math.min(attemptNo, RESUBMIT_DELAYS_MS.length) - 1;
  return { ...submitNow(payment), delayMs: retryAfterMs ?? RESUBMIT_DELAYS_MS[rung] ?? 0 };
}

function submitNow({ kind, gateway }: AnyPayment) {
  return { next: 'submit', queue: queueOf(kind, 'submit', gateway), delayMs: 0 } as const;
}

/** The delay of a submission that may not go yet: a brake holds it, or a receipt is missing. */
const PUT_OFF_DELAY_MS = 30_000;

/** Checks later whether the payment may be submitted. That is no attempt. */
export function putOffStep(payment: AnyPayment): StepChange {
  return { ...submitNow(payment), delayMs: PUT_OFF_DELAY_MS };
}

/** Puts the money of a failed payout back. */
export const REFUND_STEP = {
  next: 'refund',
  queue: queueOf('payout', 'refund'),
  delayMs: 0,
} as const;
