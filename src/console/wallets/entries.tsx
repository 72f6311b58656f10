import * as read from '../../admin/options/readers.ts';
import { WALLET_KINDS } from '../../domain/ledger/post-journal.ts';
import type { MerchantRecord } from '../../domain/merchants/manage-merchants.ts';
import { formatAmount } from '../../domain/money.ts';
import { requestApproval } from '../../domain/staff/approvals.ts';
import {
  isEntryReference,
  type OperatorEntry,
  type OperatorEntryKind,
  previewOperatorEntry,
} from '../../domain/wallets/operator-entries.ts';
import { auditedBy } from '../access/audited-by.ts';
import { MERCHANT } from '../merchants/merchant.ts';
import { pathTo } from '../routes.ts';
import { type Change, formOf, performing } from '../shell/change.tsx';
import { Choice } from '../shell/fields.tsx';
import { Field } from '../shell/form.tsx';
import { kes } from '../shell/money.tsx';
import { readField } from '../shell/read-field.ts';
import type { Answer, Handler, Visit } from '../visit.ts';

const WALLET = { name: 'wallet', label: 'Wallet' };
const AMOUNT = { name: 'amount', label: 'Amount' };
const REFERENCE = { name: 'reference', label: 'Reference' };
const MAX_REFERENCE_LENGTH = 50;

const wallet = read.oneOf(WALLET_KINDS);
const reference = read.textThat(
  'REFERENCE',
  `1 to ${MAX_REFERENCE_LENGTH} letters, digits, dashes or underscores`,
  isEntryReference,
);

interface Kind {
  kind: OperatorEntryKind;
  route: 'walletTopup' | 'walletAdjust';
  action: 'wallet.topup' | 'wallet.adjust';
  title: string;
  /** Says what it is for. */
  what: string;
}

const TOPUP: Kind = {
  ...{ kind: 'topup', route: 'walletTopup', action: 'wallet.topup' },
  ...{ title: 'Top up the payout wallet', what: 'Books money that came to the bank account.' },
};

const ADJUSTMENT: Kind = {
  ...{ kind: 'adjustment', route: 'walletAdjust', action: 'wallet.adjust' },
  ...{ title: 'Adjust a wallet', what: 'Corrects a wallet, against the bank account.' },
};

/** Reads an entry. @throws OperatorRefusal that says what a field must be */
function entryIn(
  { kind }: Kind,
  given: Visit['form'],
  { id: merchant_id }: MerchantRecord,
): Omit<OperatorEntry, 'reason'> {
  const amount = kind === 'topup' ? read.positiveAmount : read.signedAmount;
  return {
    ...{ kind, merchant_id },
    wallet: kind === 'topup' ? 'payout' : readField(given, WALLET, wallet),
    amount_cents: readField(given, AMOUNT, amount),
    reference: readField(given, REFERENCE, reference),
  };
}

/** Says what an entry would do now. @throws OperatorRefusal when it could not be booked */
async function effectOf(
  { service: { database } }: Visit,
  entry: Omit<OperatorEntry, 'reason'>,
): Promise<string[]> {
  const { kind, wallet, amount_cents, reference, merchant_id } = entry;
  const preview = await previewOperatorEntry(database, { ...entry, reason: '' });
  const name = kind === 'topup' ? 'A top-up' : 'An adjustment';
  return [
    `${name} of ${kes(amount_cents)} on the ${wallet} wallet of merchant ${merchant_id}, under the reference ${reference}.`,
    `The balance is ${kes(preview.balance_cents)} now. It would be ${kes(preview.balance_after_cents)}.`,
  ];
}

/** Asks a second person for an entry. */
function request(kind: Kind): Change<MerchantRecord> {
  const { route, action, title } = kind;
  const givenIn = ({ req, query, form }: Visit) => (req.method === 'GET' ? query : form);
  return {
    ...{ route, action, title, verb: 'Ask a second person' },
    preview: async (visit, merchant) => [
      ...(await effectOf(visit, entryIn(kind, givenIn(visit), merchant))),
      'Nothing is booked now. Another admin must approve it first.',
      'The merchant reads the reason in its list of wallet transactions.',
    ],
    fields: (_merchant, _form, visit) =>
      [WALLET, AMOUNT, REFERENCE].map(({ name }) => (
        <input type="hidden" name={name} value={givenIn(visit)[name] ?? ''} />
      )),
    perform: async (visit, merchant, { reason }) => {
      // The entry itself is another line of the log, once it is approved.
      const audited = auditedBy(visit, route, { action: 'approval.request', reason });
      const entry = entryIn(kind, visit.form, merchant);
      const preview = (await effectOf(visit, entry)).join('\n');
      await requestApproval(audited, {
        ...{ action, reason, preview, requested_by: visit.member.email, payload: entry },
        ...{ merchant_id: merchant.id, amount_cents: Math.abs(entry.amount_cents) },
        subject: `${entry.wallet} wallet of merchant ${merchant.id}, ${formatAmount(entry.amount_cents)}, reference ${entry.reference}`,
      });
      return { goTo: pathTo('approvals') };
    },
  };
}

/** Asks first for the entry, and then shows what it would do, and asks why. */
function entryForm(kind: Kind): Handler {
  const confirmation = formOf(MERCHANT, () => request(kind));
  return async (visit) => (visit.query.amount ? confirmation(visit) : blank(visit, kind));
}

async function blank(visit: Visit, { kind, route, title, what }: Kind): Promise<Answer> {
  const merchant = await MERCHANT.find(visit);
  const page = (
    <>
      <h1>{title}</h1>
      <p>
        <a href={MERCHANT.pathOf(merchant)}>{MERCHANT.nameOf(merchant)}</a>
      </p>
      <form class="card" method="get" action={pathTo(route, visit.params)}>
        <p>{what} The next page says what it would do. Nothing is booked yet.</p>
        {kind === 'adjustment' && <Choice {...WALLET} words={WALLET_KINDS} />}
        <Field
          {...AMOUNT}
          hint={kind === 'topup' ? 'Such as 100.00' : 'More, or less, such as -100.00'}
        />
        <Field
          {...REFERENCE}
          maxLength={MAX_REFERENCE_LENGTH}
          hint="Unique for the merchant: a second entry with it books nothing"
        />
        <p class="buttons">
          <button type="submit">See what it would do</button>
          <a href={pathTo('wallets', visit.params)}>Do nothing</a>
        </p>
      </form>
    </>
  );
  return { page, title };
}

/** Top-ups and adjustments, which always wait for a second person. */
export const entryHandlers = {
  walletTopupForm: entryForm(TOPUP),
  walletTopup: performing(MERCHANT, () => request(TOPUP)),
  walletAdjustForm: entryForm(ADJUSTMENT),
  walletAdjust: performing(MERCHANT, () => request(ADJUSTMENT)),
};
