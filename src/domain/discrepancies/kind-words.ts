import type { DiscrepancyKind } from './discrepancy.ts';

/** The kinds in the words that support reads. */
export const KIND_WORDS: Readonly<Record<DiscrepancyKind, string>> = {
  other_amount: 'another amount moved than was asked for',
  other_account: 'money moved from or to another account',
  second_success: 'a second receipt for one payment',
  failure_after_success: 'the gateway takes back a success',
  return_failed: 'late money could not be given back',
  paid_after_refund: 'a payout arrived after its refund',
  second_reversal: 'a failed reversal succeeded after another took its place',
  never_taken: 'it could not be sent before its deadline',
  taken_after_failure: 'the gateway took it after it was failed here',
  overdue: 'the gateway has not said in time how it ended',
  missing_at_gateway: "not in the gateway's statement",
  unknown_movement: 'at the gateway, not with us',
  other_payment: 'a callback names another payment than its address',
  unknown_payment: 'a callback for a payment that is not with us',
};
