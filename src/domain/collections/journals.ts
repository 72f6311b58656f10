import type { JournalLine } from '../ledger/post-journal.ts';
import type { Collection } from '../payments/collection.ts';

/**
 * Returns the lines of a completed collection: the wallet gets the amount net of commission.
 * @param paidInto is where the gateway's movement is booked so far: the float, or suspense
 * when support decides about a movement that waited there.
 */
export function completedLines(
  collection: Collection,
  paidInto: 'gateway_float' | 'suspense' = 'gateway_float',
): JournalLine[] {
  const { amount_cents, commission_cents, ref_no, payfrom } = collection;
  return [
    { account: paidInto, amount_cents: -amount_cents },
    { account: 'commission', amount_cents: commission_cents },
    {
      account: 'wallet:collection',
      amount_cents: amount_cents - commission_cents,
      transaction: {
        type: 'collection',
        ref_no,
        counterparty: payfrom,
        description: 'Collection, net of commission',
      },
    },
  ];
}
