import { OperatorRefusal } from '../domain/errors.ts';
import { WALLET_KINDS, type WalletKind } from '../domain/ledger/post-journal.ts';
import type { MerchantRecord } from '../domain/merchants/merchant.ts';
import { formatAmount, kes } from '../domain/money.ts';
import {
  bookAuditedEntry,
  CORRECTED_AGAINST,
  ENTRY_REFERENCE,
  findEntry,
  isEntryReference,
  type OperatorEntry,
  previewOperatorEntry,
} from '../domain/wallets/operator-entries.ts';
import { required, withDefault } from './field.ts';
import { MERCHANT } from './merchant.ts';
import { type Deed, define, type Look, type Result, SECOND_ADMIN } from './operation.ts';
import * as read from './readers.ts';

const REASON_NOTE = 'The merchant reads the reason in its list of wallet transactions.';

const reference = required(
  'reference',
  read.textThat('REFERENCE', ENTRY_REFERENCE, isEntryReference),
  'Unique for the merchant: a second entry with it books nothing',
);
const onlyPayout = read.oneOf<WalletKind>(['payout']);

const topup = define({
  name: 'wallet.topup',
  role: 'admin',
  title: 'Top up the payout wallet',
  summary: "Books money that came to the bank account on a merchant's payout wallet",
  notes: REASON_NOTE,
  about: MERCHANT,
  fields: {
    wallet: withDefault('wallet', onlyPayout, 'Only this wallet can be topped up', 'payout'),
    amount_cents: required('amount', read.positiveAmount, 'How much, such as 100.00'),
    reference,
  },
  asksFirst: true,
  preview: (look, values) => values && effectOf(look, { ...values, kind: 'topup' }),
  twoPeople: SECOND_ADMIN.twoPeople,
  approval: (look, values) => approvalOf(look, { ...values, kind: 'topup' }),
  perform: (deed, values) => book(deed, { ...values, kind: 'topup' }),
});

const adjust = define({
  name: 'wallet.adjust',
  role: 'admin',
  title: 'Adjust a wallet',
  summary: "Corrects a merchant's wallet, against the bank account or the operator's losses",
  notes: `The payout wallet cannot go below zero. ${REASON_NOTE}`,
  about: MERCHANT,
  fields: {
    wallet: required('wallet', read.oneOf(WALLET_KINDS), 'Which of its wallets'),
    amount_cents: required('amount', read.signedAmount, 'More, or less, such as -100.00'),
    reference,
    against: withDefault(
      'against',
      read.oneOf(CORRECTED_AGAINST),
      'bank: the money is on the bank account. losses: it is not, or at a gateway',
      'bank',
    ),
  },
  asksFirst: true,
  preview: (look, values) => values && effectOf(look, { ...values, kind: 'adjustment' }),
  twoPeople: SECOND_ADMIN.twoPeople,
  approval: (look, values) => approvalOf(look, { ...values, kind: 'adjustment' }),
  perform: (deed, values) => book(deed, { ...values, kind: 'adjustment' }),
});

type Entry = Omit<OperatorEntry, 'merchant_id' | 'reason'>;

/** Says what an entry would do now. @throws OperatorRefusal when it could not be booked */
async function effectOf(look: Look<MerchantRecord>, entry: Entry): Promise<string[]> {
  const { kind, wallet, amount_cents, reference, against } = entry;
  const { database } = look.service;
  const { id: merchant_id } = look.subject;
  const preview = await previewOperatorEntry(database, { ...entry, merchant_id, reason: '' });
  const name = kind === 'topup' ? 'A top-up' : 'An adjustment';
  return [
    `${name} of ${kes(amount_cents)} on the ${wallet} wallet of merchant ${merchant_id}, under the reference ${reference}${kind === 'adjustment' ? `, against ${against}` : ''}.`,
    `The balance is ${kes(preview.balance_cents)} now. It would be ${kes(preview.balance_after_cents)}.`,
  ];
}

/** Every entry needs a second person, but for one that is booked already. */
async function approvalOf({ service, subject }: Look<MerchantRecord>, entry: Entry) {
  const { wallet, amount_cents, reference, against } = entry;
  const payload = { ...entry, merchant_id: subject.id };
  if (await findEntry(service.database, payload)) return null;
  return {
    subject: `${wallet} wallet of merchant ${subject.id}, ${formatAmount(amount_cents)}, reference ${reference}${against ? `, against ${against}` : ''}`,
    merchant_id: subject.id,
    amount_cents: Math.abs(amount_cents),
    payload,
    why: `${SECOND_ADMIN.why} ${REASON_NOTE}`,
  };
}

/** Books an entry while there is no staff. Where there is, one person only sees the entry that is booked. */
async function book(
  { audited, subject: { id: merchant_id }, reason, member }: Deed<MerchantRecord>,
  entry: Entry,
): Promise<Result> {
  const { reference } = entry;
  const { booked, repeated } = await audited(async (trx) => {
    const change = await bookAuditedEntry(trx, { ...entry, merchant_id, reason });
    if (!member || change.value.repeated) return change;
    throw new OperatorRefusal(
      `What was booked under the reference ${reference} was taken back a moment ago: ask anew`,
    );
  });
  const { kind: type, booked_at, ...amounts } = booked;
  return {
    title: repeated
      ? `Reference ${reference} was booked before: this is the first entry, and nothing was changed`
      : `The ${entry.kind === 'topup' ? 'top-up' : 'adjustment'} is booked`,
    facts: { merchant_id, type, ...amounts, reference, booked_at },
    more: { repeated },
    isDone: !repeated,
  };
}

/** Operations about the wallets of a merchant. */
export const walletOperations = [topup, adjust];
