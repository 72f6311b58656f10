import type { AmountRule, Channel, ChannelRoute } from '../domain/channels/channel.ts';
import { ANY_AMOUNT, formatAmount } from '../domain/money.ts';
import type { WalletTransaction } from '../domain/wallets/list-transactions.ts';
import { channelFields } from './payments.ts';
import { cents, column, computed, recordOf } from './record.ts';
import * as is from './schema.ts';

/** The records of wallets and channels. */

/** The schema of the balances. */
export const walletBalance = is.object({
  payout_wallet_balance: is.amountOf('What you can pay out, in KES'),
  collection_wallet_balance: is.amountOf('What customers have paid you, in KES. May be below zero'),
  currency: is.described({ const: 'KES' }, 'The currency of both'),
});

export const WALLETS = ['collection', 'payout'] as const;
export const TRANSACTION_TYPES = [
  'collection',
  'payout',
  'fee',
  'payout_refund',
  'fee_refund',
  'reversal',
  'topup',
  'transfer',
  'adjustment',
] as const;

/** A movement of a wallet, as its merchant sees it. The direction replaces the amount's sign. */
export const walletTransaction = recordOf<WalletTransaction>()({
  id: column('transaction_id', is.idOf('The id of this movement')),
  wallet: computed(is.oneOf(WALLETS, 'Which wallet moved'), (row) =>
    row.account.slice('wallet:'.length),
  ),
  type: is.oneOf(TRANSACTION_TYPES, 'What moved it'),
  direction: computed(
    is.oneOf(['credit', 'debit'], '`credit` into the wallet, `debit` out of it'),
    (row) => (row.amount_cents > 0 ? 'credit' : 'debit'),
  ),
  amount: computed(is.amountOf('In KES, never below zero'), (row) =>
    formatAmount(Math.abs(row.amount_cents)),
  ),
  balance_after: cents(
    'balance_after_cents',
    is.amountOf('The balance of the wallet after it, in KES'),
  ),
  ref_no: is.stringOrNull(
    'Your reference of the payment or transfer; null when there is none',
    'order-1001',
  ),
  account: column(
    'counterparty',
    is.stringOrNull('The other side: phone or bank account; null when there is none'),
  ),
  trans_id: is.stringOrNull('The network’s receipt; null when there is none'),
  description: computed(
    is.string('What it is, in words', 'Collection, net of commission'),
    (row) => row.description ?? '',
  ),
  created_at: is.time('When it was booked. ISO 8601, UTC'),
});

const CENTS_PER_SHILLING = 100;

/** The limits of amounts of a channel, as the API shows them. */
const carriedFields = {
  active: is.boolean('Takes new payments now'),
  min_amount: cents('minCents', is.amountOf('The least that one payment may have, in KES')),
  max_amount: cents('maxCents', is.amountOf('The most that one payment may have, in KES')),
  whole_shillings: computed(
    is.boolean('Takes no cents'),
    ({ stepCents }: AmountRule) => stepCents % CENTS_PER_SHILLING === 0,
  ),
};

const carried = recordOf<AmountRule & { active: boolean }>()(carriedFields);

type Carried = (AmountRule & { active: boolean }) | null;

function carriedSchema(kind: string) {
  const description = `The amounts of ${kind}; null when the channel carries none`;
  return is.described(is.nullable(carried.schema), description);
}

/** A channel, with the amounts of each kind of payment that it carries. */
export interface ChannelState extends Channel, AmountRule {
  active: boolean;
  collections: Carried;
  payouts: Carried;
}

/** Puts together what merchants see of a channel. It has a route if it has a driver. */
export function channelState(
  channel: Channel,
  route: ChannelRoute = {},
  isPaused: Readonly<Record<'collection' | 'payout', boolean>>,
): ChannelState {
  const carriedOf = (kind: 'collection' | 'payout'): Carried => {
    // A collection prompts a phone.
    if (kind === 'collection' && channel.type === 'Bank') return null;
    const rule = route[kind]?.amounts;
    return rule ? { ...rule, active: !isPaused[kind] } : null;
  };
  const [collections, payouts] = [carriedOf('collection'), carriedOf('payout')];
  const rules = [collections, payouts].filter((rule) => rule !== null);
  const active = rules.some((rule) => rule.active);
  return { ...channel, ...widestOf(rules), active, collections, payouts };
}

/** Returns the amounts that a channel carries in one direction at least. */
function widestOf(rules: readonly AmountRule[]): AmountRule {
  if (rules.length === 0) return ANY_AMOUNT;
  return {
    minCents: Math.min(...rules.map(({ minCents }) => minCents)),
    maxCents: Math.max(...rules.map(({ maxCents }) => maxCents)),
    stepCents: Math.min(...rules.map(({ stepCents }) => stepCents)),
  };
}

export const channel = recordOf<ChannelState>()({
  ...channelFields,
  ...carriedFields,
  collections: computed(
    carriedSchema('collections'),
    ({ collections }) => collections && carried.present(collections),
  ),
  payouts: computed(carriedSchema('payouts'), ({ payouts }) => payouts && carried.present(payouts)),
});
