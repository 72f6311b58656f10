/**
 * Every way in which the books can be wrong.
 * - journal_unbalanced, journal_incomplete: it does not sum to zero; it has less than two lines.
 * - journal_without_source: nothing is there that it could be the journal of.
 * - chain_gap, chain_balance: a wallet's entries are not numbered without gap; a balance is
 *   not the one before plus the amount.
 * - wallet_astray: a wallet is not what its newest entry says.
 * - journal_missing, journal_unexpected, journal_amounts: what is booked of a payment is not
 *   what its state calls for.
 * - movement_amounts: what gateways have moved for a payment is not what its state calls for.
 * - refund_not_due: a payout failed, its money is not back, and nothing will bring it back.
 * - in_flight_sum, suspense_sum: an account is not the sum of what should be in it.
 * - suspense_unattended: money waits in suspense and nobody is asked about it.
 */
export const BREAK_KINDS = [
  'journal_unbalanced',
  'journal_incomplete',
  'journal_without_source',
  'chain_gap',
  'chain_balance',
  'wallet_astray',
  'journal_missing',
  'journal_unexpected',
  'journal_amounts',
  'movement_amounts',
  'refund_not_due',
  'in_flight_sum',
  'suspense_sum',
  'suspense_unattended',
] as const;
export type BreakKind = (typeof BREAK_KINDS)[number];

export interface Break {
  kind: BreakKind;
  merchant_id: number;
  /** What is wrong, such as `collection`, and which: an id, an account or a wallet's entry. */
  subject: string;
  id: string;
  /** For people; amounts with two decimals. */
  expected: string;
  found: string;
}

/** The breaks of one merchant as a check finds them. */
export type Finding = Omit<Break, 'merchant_id'>;
