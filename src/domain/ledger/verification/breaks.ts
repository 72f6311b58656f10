/** Every way in which the books can be wrong. */
export const BREAK_KINDS = [
  'journal_unbalanced', // a journal does not sum to zero
  'journal_incomplete', // a journal has fewer than two lines
  'journal_without_source', // the payment, movement or transfer of a journal does not exist
  'chain_gap', // the numbers of a wallet's entries have a gap
  'chain_balance', // the balance after an entry is not the balance before it plus the amount
  'wallet_astray', // a wallet differs from its newest entry
  // The journals of a payment do not fit its state:
  'journal_missing',
  'journal_unexpected',
  'journal_amounts',
  'movement_amounts', // the gateways' movements of a payment do not fit its state
  'refund_not_due', // a payout failed, its money is not back, and no step will bring it back
  // An account differs from the payments that it should consist of:
  'in_flight_sum',
  'suspense_sum',
  'suspense_unattended', // money waits in suspense, and no discrepancy or return handles it
] as const;
export type BreakKind = (typeof BREAK_KINDS)[number];

export interface Break {
  kind: BreakKind;
  merchant_id: number;
  /** The kind of thing that is wrong, such as `collection`. */
  subject: string;
  /** An id, an account or a wallet's entry. */
  id: string;
  /** For people; amounts with two decimals. */
  expected: string;
  found: string;
}

/** A break as a check finds it within one merchant. */
export type Finding = Omit<Break, 'merchant_id'>;
