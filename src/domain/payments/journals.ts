import type { JournalLine, TransactionLabel } from '../ledger/post-journal.ts';
import { type Collection, costOf, netOf, type Payout, type Reversal } from './kinds.ts';

/**
 * The account that the gateway's movement is booked on so far: the float, suspense when support decides
 * about a movement that waited there, or losses when that never came and was given back.
 */
export type MovementAccount = 'gateway_float' | 'suspense' | 'losses';

/** Returns the lines of a completed collection: the wallet gets the amount net of commission. */
export function collectedLines(
  collection: Collection,
  movedOn: MovementAccount = 'gateway_float',
): JournalLine[] {
  const { amount_cents, commission_cents, ref_no, payfrom } = collection;
  return [
    { account: movedOn, amount_cents: -amount_cents },
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

/** Returns the lines of a completed payout: the recipient has the money. */
export function paidOutLines(
  payout: Costs,
  movedOn: MovementAccount = 'gateway_float',
): JournalLine[] {
  return [
    { account: 'payouts_in_flight', amount_cents: -costOf(payout) },
    { account: movedOn, amount_cents: payout.amount_cents },
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

/**
 * Returns the lines of a completed reversal: the customer has the money. The wallet gives the
 * net that it got, and the operator gives up the commission.
 */
export function reversedLines(
  reversal: Reversal,
  movedOn: MovementAccount = 'gateway_float',
): JournalLine[] {
  return [
    { account: movedOn, amount_cents: reversal.amount_cents },
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

/** Returns the lines that take completed lines back. */
export function undoneLines(lines: JournalLine[]): JournalLine[] {
  return lines.map((line) => adjusted({ ...line, amount_cents: -line.amount_cents }, 'Undone'));
}

/** Returns the lines that make completed lines those of another amount: the differences. */
export function correctedLines(before: JournalLine[], after: JournalLine[]): JournalLine[] {
  const differences = after.map((line, index) => ({
    ...line,
    amount_cents: line.amount_cents - before[index]!.amount_cents,
  }));
  return differences.map((line) => adjusted(line, 'Corrected'));
}

/** Returns a line that a merchant sees as an adjustment, with the reason before its words. */
function adjusted({ transaction, ...line }: JournalLine, why: string): JournalLine {
  if (!transaction) return line;
  const description = `${why}: ${transaction.description}`;
  return { ...line, transaction: { ...transaction, type: 'adjustment', description } };
}

function label(
  { ref_no, payto }: Costs,
  type: TransactionLabel['type'],
  description: string,
): TransactionLabel {
  return { type, ref_no, counterparty: payto, description };
}
