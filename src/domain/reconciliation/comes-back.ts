import type { AskedLine } from '../discrepancies/asked-line.ts';
import { isMasked, sameAccount } from '../settlement/same-account.ts';

/* Which money may come back: of which payments, and for how long. */

/** A payout comes back within this time, or is found by people. Where digits are hidden, fewer payouts are looked at. */
export const COMES_BACK_WITHIN = { whole: '90 days', masked: '14 days' };

/** The candidates that are looked at. */
export const MAX_LOOKED_AT = 500;

/** The payments whose money goes out. */
export const OUTGOING = ['payout', 'reversal', 'return'] as const;

/** Returns the condition, as SQL, that money may have gone to the account of a line, and within what time. */
export function accountIn({ account }: AskedLine, column: string) {
  if (account !== null && !isMasked(account)) {
    return { isOfAccount: `${column} = :account`, within: COMES_BACK_WITHIN.whole };
  }
  const mayBe = sameAccount(column, 'CAST(:account AS text)');
  return { isOfAccount: `coalesce(${mayBe}, true)`, within: COMES_BACK_WITHIN.masked };
}
