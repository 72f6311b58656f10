import type { JournalLine, TransactionLabel } from '../ledger/post-journal.ts';
import { costOf, type Payout } from '../payments/payout.ts';

type Costs = Pick<Payout, 'amount_cents' | 'fee_cents' | 'ref_no' | 'payto' | 'narration'>;

/** Returns the lines of an accepted payout: the wallet gives amount and fee, now in flight. */
export function acceptedLines(payout: Costs): JournalLine[] {
  return [
    { account: 'payouts_in_flight', amount_cents: costOf(payout) },
    {
      account: 'wallet:payout',
      amount_cents: -payout.amount_cents,
      transaction: label(payout, 'payout', payout.narration),
    },
    {
      account: 'wallet:payout',
      amount_cents: -payout.fee_cents,
      transaction: label(payout, 'fee', 'Payout fee'),
    },
  ];
}

/**
 * Returns the lines of a completed payout: the recipient has the money.
 * @param paidFrom is where the gateway's movement is booked so far: the float, or suspense
 * when support decides about a movement that waited there.
 */
export function completedLines(
  payout: Costs,
  paidFrom: 'gateway_float' | 'suspense' = 'gateway_float',
): JournalLine[] {
  return [
    { account: 'payouts_in_flight', amount_cents: -costOf(payout) },
    { account: paidFrom, amount_cents: payout.amount_cents },
    { account: 'fees', amount_cents: payout.fee_cents },
  ];
}

/** Returns the lines of a failed payout: the wallet gets amount and fee back. */
export function refundedLines(payout: Costs): JournalLine[] {
  return [
    { account: 'payouts_in_flight', amount_cents: -costOf(payout) },
    {
      account: 'wallet:payout',
      amount_cents: payout.amount_cents,
      transaction: label(payout, 'payout_refund', 'Refund of a failed payout'),
    },
    {
      account: 'wallet:payout',
      amount_cents: payout.fee_cents,
      transaction: label(payout, 'fee_refund', 'Refund of a payout fee'),
    },
  ];
}

function label(
  { ref_no, payto }: Costs,
  type: TransactionLabel['type'],
  description: string,
): TransactionLabel {
  return { type, ref_no, counterparty: payto, description };
}
