import type { DiscrepancyKind } from './discrepancy.ts';

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

/** What can be decided about each kind. Where money is in suspense `dismissed` never is. */
export const ALLOWED_RESOLUTIONS: Readonly<Record<DiscrepancyKind, readonly Resolution[]>> = {
  other_amount: ['accept-amount', 'returned', 'failed', 'dismissed'],
  other_account: ['completed', 'returned', 'failed', 'dismissed'],
  second_success: ['returned', 'failed'],
  failure_after_success: ['dismissed'],
  return_failed: ['returned'],
  paid_after_refund: ['completed', 'accept-amount', 'returned', 'failed'],
  second_reversal: ['returned', 'failed'],
  never_taken: ['failed'],
  overdue: ['completed', 'failed'],
  missing_at_gateway: ['dismissed'],
  unknown_movement: ['dismissed'],
  other_payment: ['dismissed'],
  unknown_payment: ['dismissed'],
};

/** The result of a payment that support has failed; the network's own codes are others. */
export const SUPPORT_RESULT_CODE = 1;
