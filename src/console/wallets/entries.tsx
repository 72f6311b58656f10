import * as read from '../../admin/options/readers.ts';
import { WALLET_KINDS } from '../../domain/ledger/post-journal.ts';
import type { MerchantRecord } from '../../domain/merchants/merchant.ts';
import { formatAmount } from '../../domain/money.ts';
import { requestApproval } from '../../domain/staff/approvals.ts';
import {
  isEntryReference,
  type OperatorEntry,
  type OperatorEntryKind,
  previewOperatorEntry,
} from '../../domain/wallets/operator-entries.ts';
import { auditedBy } from '../access/audit.ts';
import { MERCHANT } from '../merchants/merchant.ts';
import { pathTo } from '../routes.ts';
import { type Action, actionHandlers, type Given } from '../shell/action.ts';
import { Choice, Field } from '../shell/fields.tsx';
import { kes } from '../shell/links.tsx';
import { readField } from '../shell/read-fields.ts';
import type { Visit } from '../visit.ts';

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
  kind: 'topup',
  route: 'walletTopup',
  action: 'wallet.topup',
  title: 'Top up the payout wallet',
  what: 'Books money that came to the bank account.',
};

const ADJUSTMENT: Kind = {
  kind: 'adjustment',
  route: 'walletAdjust',
  action: 'wallet.adjust',
  title: 'Adjust a wallet',
  what: 'Corrects a wallet, against the bank account.',
};

/** Reads an entry. @throws OperatorRefusal that says what a field must be */
function entryIn(
  { kind }: Kind,
  given: Given,
  { id: merchant_id }: MerchantRecord,
): Omit<OperatorEntry, 'reason'> {
  const amount = kind === 'topup' ? read.positiveAmount : read.signedAmount;
  return {
    kind,
    merchant_id,
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

/** Asks for the entry, says what it would do, and asks a second person for it. */
function request(kind: Kind): Action<MerchantRecord> {
  const { route, action, title } = kind;
  return {
    action,
    title,
    verb: 'Ask a second person',
    carried: [WALLET.name, AMOUNT.name, REFERENCE.name],
    choices: (merchant, given) => <EntryForm kind={kind} merchant={merchant} given={given} />,
    preview: async (visit, merchant, given) => {
      if (!given.amount) return null;
      return [
        ...(await effectOf(visit, entryIn(kind, given, merchant))),
        'Nothing is booked now. Another admin must approve it first.',
        'The merchant reads the reason in its list of wallet transactions.',
      ];
    },
    perform: async (visit, merchant, { reason }) => {
      // The entry itself is another line of the log, once it is approved.
      const audited = auditedBy(visit, route, { action: 'approval.request', reason });
      const entry = entryIn(kind, visit.form, merchant);
      const preview = (await effectOf(visit, entry)).join('\n');
      await requestApproval(audited, {
        action,
        reason,
        preview,
        requested_by: visit.member.email,
        payload: entry,
        merchant_id: merchant.id,
        amount_cents: Math.abs(entry.amount_cents),
        subject: `${entry.wallet} wallet of merchant ${merchant.id}, ${formatAmount(entry.amount_cents)}, reference ${entry.reference}`,
      });
      return { goTo: pathTo('approvals') };
    },
  };
}

interface EntryFormProps {
  kind: Kind;
  merchant: MerchantRecord;
  given: Given;
}

function EntryForm({ kind: { kind, route, what }, merchant, given }: EntryFormProps) {
  const params = { merchant_id: merchant.id };
  return (
    <form class="card" method="get" action={pathTo(route, params)}>
      <p>{what} Nothing is booked yet.</p>
      {kind === 'adjustment' && <Choice {...WALLET} choices={WALLET_KINDS} value={given.wallet} />}
      <Field
        {...AMOUNT}
        value={given.amount}
        hint={kind === 'topup' ? 'Such as 100.00' : 'More, or less, such as -100.00'}
      />
      <Field
        {...REFERENCE}
        value={given.reference}
        maxLength={MAX_REFERENCE_LENGTH}
        hint="Unique for the merchant: a second entry with it books nothing"
      />
      <p class="buttons">
        <button type="submit" class="quiet">
          See what it would do
        </button>
        <a href={pathTo('wallets', params)}>Do nothing</a>
      </p>
    </form>
  );
}

/** Top-ups and adjustments, which always wait for a second person. */
export const entryHandlers = {
  ...actionHandlers('walletTopup', MERCHANT, () => request(TOPUP)),
  ...actionHandlers('walletAdjust', MERCHANT, () => request(ADJUSTMENT)),
};
