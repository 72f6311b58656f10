import type { JournalLine } from '../ledger/post-journal.ts';
import { netOf, type Reversal } from '../payments/reversal.ts';

/**
 * Returns the lines of a completed reversal: the customer has the money. The wallet gives the
 * net that it got, and the operator gives up the commission.
 * @param paidFrom is where the gateway's movement is booked so far.
 */
export function reversedLines(
  reversal: Reversal,
  paidFrom: 'gateway_float' | 'suspense' = 'gateway_float',
): JournalLine[] {
  return [
    { account: paidFrom, amount_cents: reversal.amount_cents },
    { account: 'commission', amount_cents: -reversal.commission_cents },
    {
      account: 'wallet:collection',
      amount_cents: -netOf(reversal),
      transaction: {
        type: 'reversal',
        ref_no: reversal.ref_no,
        counterparty: reversal.account,
        description: reversal.reason ?? `Reversal of ${reversal.checkout_ref_no}`,
      },
    },
  ];
}
