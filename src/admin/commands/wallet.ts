import type { WalletKind } from '../../domain/ledger/post-journal.ts';
import {
  bookAuditedEntry,
  isEntryReference,
  type OperatorEntry,
} from '../../domain/wallets/operator-entries.ts';
import { required, withDefault } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { rowDocument } from '../output/document.ts';
import { render } from '../output/table.ts';
import { type Answer, type Change, changes, type Noun } from '../verb.ts';

const REFERENCES = '1 to 50 letters, digits, dashes or underscores';
const ONCE = 'Unique for the merchant: a second entry with it books nothing';
const REASON_NOTE = 'The merchant reads the reason in its list of wallet transactions.';
const collectionOrPayout = read.oneOf<WalletKind>(['collection', 'payout']);
const onlyPayout = read.oneOf<WalletKind>(['payout']);

const merchant_id = required('merchant', read.merchantId, 'The owner of the wallet');
const reference = required(
  'reference',
  read.textThat('REFERENCE', REFERENCES, isEntryReference),
  ONCE,
);

const topup = changes({
  role: 'admin',
  summary: "Books money that came to the bank account on a merchant's payout wallet",
  notes: REASON_NOTE,
  options: {
    merchant_id,
    wallet: withDefault('wallet', onlyPayout, 'Only this wallet can be topped up', 'payout'),
    amount_cents: required('amount', read.positiveAmount, 'How much, such as 100.00'),
    reference,
  },
  argument: 'merchant_id',
  run: (_service, values, change) => book(change, { ...values, kind: 'topup' }),
});

const adjust = changes({
  role: 'admin',
  summary: "Corrects a merchant's wallet, against the bank account",
  notes: `${REASON_NOTE} The payout wallet cannot go below zero.`,
  options: {
    merchant_id,
    wallet: required('wallet', collectionOrPayout, 'Which of its wallets'),
    amount_cents: required('amount', read.signedAmount, 'More, or less, such as -100.00'),
    reference,
  },
  argument: 'merchant_id',
  run: (_service, values, change) => book(change, { ...values, kind: 'adjustment' }),
});

async function book(
  { audited, reason }: Change,
  entry: Omit<OperatorEntry, 'reason'>,
): Promise<Answer> {
  const { merchant_id, reference } = entry;
  const { booked, repeated } = await audited((trx) => bookAuditedEntry(trx, { ...entry, reason }));
  const { kind: type, booked_at, ...amounts } = rowDocument(booked);
  const data = { merchant_id, type, ...amounts, reference, booked_at };
  const title = repeated
    ? `Reference ${reference} was booked before: this is the first entry, and nothing was changed`
    : `The ${entry.kind === 'topup' ? 'top-up' : 'adjustment'} is booked`;
  return { data: { ...data, repeated }, lines: [title, render(data)] };
}

export const wallet: Noun = {
  summary: "Money that the operator books on a merchant's wallets",
  verbs: { topup, adjust },
};
