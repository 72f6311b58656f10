import {
  pollingQueue,
  REFUNDS_QUEUE,
  returnsQueue,
  reversalsQueue,
  submissionQueue,
} from '../../jobs/job-types.ts';
import type { StepChange } from '../../jobs/outbox.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { AnyPayment } from './payment-store.ts';

/** How soon the same reference goes again after it was not taken: the ladder, then its last rung. */
const RESUBMIT_DELAYS_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000, 300_000];

/** Questions come at half of the payment's age, no further apart than this … */
const MAX_POLL_DELAY_MS = 60_000;
/** … and when it is overdue, this. It is asked about for as long as it is open. */
const OVERDUE_POLL_DELAY_MS = 600_000;

/** Asks the gateway after `firstMs` at the earliest. What is parked stays parked. */
export function pollStep(payment: AnyPayment, firstMs: number, now = Date.now()): StepChange {
  if (payment.parked_reason !== null) return { park: payment.parked_reason };
  const age = now - payment.created_at.getTime();
  const longest = payment.overdue ? OVERDUE_POLL_DELAY_MS : MAX_POLL_DELAY_MS;
  return { ...pollNow(payment), delayMs: Math.max(firstMs, Math.min(age / 2, longest)) };
}

/** Asks the gateway at once, also about what is parked: somebody has decided that it goes on. */
export function pollNow({ gateway }: AnyPayment) {
  return { next: 'poll', queue: pollingQueue(gateway), delayMs: 0 } as const;
}

/**
 * Asks again as soon as after a submission: for a payment that may never have arrived,
 * whose customer is waiting for the prompt.
 */
export function pollSoonStep(payment: AnyPayment, firstMs: number): StepChange {
  const step = pollStep(payment, firstMs);
  return step !== 'none' && 'next' in step && !payment.overdue
    ? { ...step, delayMs: firstMs }
    : step;
}

/** Where payments of a kind wait to be sent; what goes back must not wait behind what goes out. */
export const SUBMISSION_QUEUES: Readonly<Record<GatewayPaymentKind, (gateway: string) => string>> =
  {
    collection: submissionQueue,
    payout: submissionQueue,
    reversal: reversalsQueue,
    return: returnsQueue,
  };

/** Submits now, or again after attempt `attemptNo` was not taken. */
export function submitStep(payment: AnyPayment, attemptNo = 0): StepChange {
  const rung = Math.min(attemptNo, RESUBMIT_DELAYS_MS.length) - 1;
  return { ...submitNow(payment), delayMs: RESUBMIT_DELAYS_MS[rung] ?? 0 };
}

function submitNow(payment: AnyPayment) {
  const queue = SUBMISSION_QUEUES[payment.kind](payment.gateway);
  return { next: 'submit', queue, delayMs: 0 } as const;
}

/** How long a submission that may not go now is put off: its channel is paused, or a receipt is missing. */
const PUT_OFF_DELAY_MS = 30_000;

/** Looks again later whether it may be submitted; that is no attempt. */
export function putOffStep(payment: AnyPayment): StepChange {
  return { ...submitNow(payment), delayMs: PUT_OFF_DELAY_MS };
}

/** Puts the money of a failed payout back. */
export const REFUND_STEP = { next: 'refund', queue: REFUNDS_QUEUE, delayMs: 0 } as const;
