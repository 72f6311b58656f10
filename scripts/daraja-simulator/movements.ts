import { BALANCE_TOO_LOW, type Outcome } from './behaviours.ts';
import type { Floats } from './money.ts';
import type { Transaction } from './transactions.ts';

const ALREADY_REVERSED: Outcome = {
  code: 'R000001',
  description: 'The transaction has already been reversed.',
};
const NO_ORIGINAL: Outcome = {
  code: 'R000002',
  description: 'The OriginalTransactionID is invalid.',
};
/** Safaricom's documentation does not say how a part of a payment would be given back. */
const NOT_THE_WHOLE: Outcome = {
  code: 2006,
  description: 'Declined due to account rule: only the whole amount can be reversed.',
};

/** Moves the money of a transaction. Returns why it cannot, or null. */
export function moveMoney(floats: Floats, transaction: Transaction): Outcome | null {
  const { kind, shortCode, amountCents } = transaction;
  if (kind === 'reversal') return reverse(floats, transaction);
  if (kind === 'payout') return floats.debit(shortCode, amountCents) ? null : BALANCE_TOO_LOW;
  floats.credit(shortCode, amountCents);
  return null;
}

function reverse(floats: Floats, { original, shortCode, amountCents }: Transaction) {
  if (original?.kind !== 'collection' || original.shortCode !== shortCode) return NO_ORIGINAL;
  if (original.isReversed) return ALREADY_REVERSED;
  if (original.amountCents !== amountCents) return NOT_THE_WHOLE;
  if (!floats.debit(shortCode, amountCents)) return BALANCE_TOO_LOW;
  original.isReversed = true;
  return null;
}
