import type { WalletKind } from '../domain/ledger/post-journal.ts';
import { formatAmount } from '../domain/money.ts';
import {
  type BookedEntry,
  bookOperatorEntry,
  type OperatorEntry,
} from '../domain/wallets/operator-entries.ts';
import { positiveAmount, signedAmount } from './amounts.ts';
import {
  type Answer,
  type ChangeContext,
  changes,
  optionalOr,
  type Reader,
  required,
} from './command.ts';
import { fields, moment } from './output.ts';
import { merchantId, oneOf, wrong } from './readers.ts';

const REFERENCE = /^[A-Za-z0-9_-]{1,50}$/;
const reference: Reader<string> = {
  placeholder: 'REFERENCE',
  read: (raw) => {
    if (!REFERENCE.test(raw)) throw wrong('1 to 50 letters, digits, dashes or underscores', raw);
    return raw;
  },
};

const merchant = required(merchantId, 'Whose wallet');
const referenceOption = required(
  reference,
  'Unique for the merchant: the same one again books nothing',
);
const REASON_NOTE = 'The merchant reads the reason in its list of wallet transactions.';

const topup = changes({
  summary: "Books money that came to the bank account on a merchant's payout wallet",
  notes: [REASON_NOTE],
  options: {
    merchant,
    wallet: optionalOr<WalletKind>(
      oneOf(['payout']),
      'payout',
      'The payout wallet, which is the one that can be topped up',
    ),
    amount: required(positiveAmount, 'How much, such as 100.00'),
    reference: referenceOption,
  },
  run: (context, values) => book(context, { ...values, kind: 'topup' }),
});

const adjust = changes({
  summary: "Corrects a merchant's wallet, against the bank account",
  notes: [REASON_NOTE, 'The payout wallet cannot go below zero.'],
  options: {
    merchant,
    wallet: required(oneOf<WalletKind>(['collection', 'payout']), 'Which of its wallets'),
    amount: required(signedAmount, 'How much more, or less, such as -100.00'),
    reference: referenceOption,
  },
  run: (context, values) => book(context, { ...values, kind: 'adjustment' }),
});

interface Order {
  kind: OperatorEntry['kind'];
  merchant: number;
  wallet: WalletKind;
  amount: number;
  reference: string;
}

async function book(context: ChangeContext, order: Order): Promise<Answer> {
  const { booked, repeated } = await context.audited(async (trx) => {
    const entry = { ...order, merchant_id: order.merchant, amount_cents: order.amount };
    const value = await bookOperatorEntry(trx, { ...entry, reason: context.reason });
    const subject = `${order.wallet} wallet of merchant ${order.merchant}`;
    const details = {
      reference: order.reference,
      amount: formatAmount(value.booked.amount_cents),
      balance_after: formatAmount(value.booked.balance_after_cents),
    };
    const audit = { merchant_id: order.merchant, subject, details };
    return { value, audit: value.repeated ? null : audit };
  });
  const data = document(order, booked);
  return {
    data: { ...data, repeated },
    lines: [
      repeated
        ? `Reference ${order.reference} was booked before: this is the first entry, and nothing was changed`
        : `The ${order.kind === 'topup' ? 'top-up' : 'adjustment'} is booked`,
      ...fields({
        merchant: String(order.merchant),
        wallet: data.wallet,
        amount: data.amount,
        'balance after': data.balance_after,
        reference: data.reference,
        booked: moment(booked.booked_at),
      }),
    ],
  };
}

function document(order: Order, booked: BookedEntry) {
  return {
    merchant_id: order.merchant,
    type: booked.kind,
    wallet: booked.wallet,
    amount: formatAmount(booked.amount_cents),
    balance_after: formatAmount(booked.balance_after_cents),
    reference: order.reference,
    booked_at: booked.booked_at.toISOString(),
  };
}

export const walletVerbs = { topup, adjust };
