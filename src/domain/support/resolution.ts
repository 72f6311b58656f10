import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { isOpen, MACHINES, type Payment } from '../payments/payment.ts';
import { canMove } from '../payments/state-machine.ts';

/**
 * How support can settle a discrepancy.
 * - completed: the payment is complete with the movement that waits in suspense, or by the
 *   gateway's word that support has got.
 * - accept-amount: likewise, with the amount that has moved instead of the one asked for.
 * - failed: the payment has failed. Money that went out all the same is lost to the operator.
 * - returned: the money goes, or has come, back to where it was.
 * - dismissed: there is nothing to do, and no money in suspense.
 */
export const RESOLUTIONS = [
  'completed',
  'failed',
  'returned',
  'accept-amount',
  'dismissed',
] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** What can be decided about each kind, as far as the payment and its money allow it. */
export const ALLOWED_RESOLUTIONS: Readonly<Record<DiscrepancyKind, readonly Resolution[]>> = {
  other_amount: ['accept-amount', 'returned', 'failed', 'dismissed'],
  other_account: ['completed', 'accept-amount', 'returned', 'failed', 'dismissed'],
  second_success: ['completed', 'accept-amount', 'returned', 'failed', 'dismissed'],
  failure_after_success: ['dismissed'],
  return_failed: ['returned', 'dismissed'],
  paid_after_refund: ['completed', 'accept-amount', 'returned', 'failed', 'dismissed'],
  second_reversal: ['completed', 'accept-amount', 'returned', 'failed', 'dismissed'],
  never_taken: ['failed', 'dismissed'],
  taken_after_failure: ['dismissed'],
  overdue: ['completed', 'failed', 'dismissed'],
  missing_at_gateway: ['dismissed'],
  unknown_movement: ['dismissed'],
  other_payment: ['dismissed'],
  unknown_payment: ['dismissed'],
};

/** What a decision depends on, besides the kind of discrepancy. */
export interface Situation {
  kind: DiscrepancyKind;
  /** Null when the discrepancy is of no payment here. */
  payment: Pick<Payment, 'kind' | 'status' | 'amount_cents'> | null;
  /** What has moved and waits in suspense for the decision, in cents. */
  suspenseCents: number | null;
}

/** What can be decided as things stand; never nothing. */
export function allowedResolutions(situation: Situation): Resolution[] {
  return ALLOWED_RESOLUTIONS[situation.kind].filter((as) => isPossible(as, situation));
}

function isPossible(as: Resolution, { kind, payment, suspenseCents }: Situation): boolean {
  if (payment && (kind === 'overdue' || kind === 'never_taken')) {
    // Support has got the gateway's word. What has ended by itself needs none.
    return (as === 'dismissed') !== isOpen(payment);
  }
  // Money is never left in suspense, and without money there is nothing to book.
  if (payment === null || suspenseCents === null) return as === 'dismissed';
  const isAsAsked = suspenseCents === payment.amount_cents;
  switch (as) {
    case 'completed':
      return isAsAsked && isCompletable(payment);
    case 'accept-amount':
      // A customer who is paid back gets everything.
      return !isAsAsked && payment.kind !== 'return' && isCompletable(payment);
    case 'failed':
      // What came in is never written off: it belongs to somebody.
      return payment.kind !== 'collection';
    case 'returned':
      return true;
    case 'dismissed':
      return false;
  }
}

function isCompletable({ kind, status }: Pick<Payment, 'kind' | 'status'>): boolean {
  return canMove(MACHINES[kind], status, 'completed');
}

/** The result of a payment that support has failed; the network's own codes are others. */
export const SUPPORT_RESULT_CODE = 1;
