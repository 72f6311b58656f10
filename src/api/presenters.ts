import {
  type AmountRule,
  type Channel,
  type ChannelRoute,
  channelByCode,
} from '../domain/channels/channel.ts';
import type { Session } from '../domain/credentials/sessions.ts';
import { ANY_AMOUNT, formatAmount } from '../domain/money.ts';
import {
  asShown,
  type Collection,
  netOf,
  type Payout,
  REVERSAL_STATES,
  type Reversal,
} from '../domain/payments/kinds.ts';
import type { Payment } from '../domain/payments/payment.ts';
import type { WalletTransaction } from '../domain/wallets/list-transactions.ts';

/** The record of a collection that was just initiated. */
export function collectionRecord(collection: Collection) {
  return { ...collectionCore(collection), ...createdAtIso(collection) };
}

/** The fields of the specification, and no others. */
function collectionCore(collection: Collection) {
  return {
    id: collection.id,
    payfrom: collection.payfrom,
    amount: formatAmount(collection.amount_cents),
    ref_no: collection.ref_no,
    account_number: collection.account_number,
    callback_url: collection.callback_url,
    status: collection.status,
    category: collection.category,
    created_at: formatDateTime(collection.created_at),
  };
}

/** The record with all that is known of the outcome. */
export function collectionDetail(collection: Collection) {
  // Nothing is earned on one that failed.
  const [commission, net] =
    collection.status === 'failed' ? [0, 0] : [collection.commission_cents, netOf(collection)];
  return {
    ...collectionRecord(collection),
    ...outcome(collection),
    commission: formatAmount(commission),
    net_amount: formatAmount(net),
  };
}

/** The record in the deprecated list. */
export function listedCollection(collection: Collection) {
  return { ...collectionCore(collection), status: deprecatedStatus(collection) };
}

/** The record of a payout that was just initiated. */
export function payoutRecord(payout: Payout) {
  const { created_at, ...core } = payoutCore(payout);
  return { ...core, ...channelFields(payout), created_at, ...createdAtIso(payout) };
}

/** The record with all that is known of the outcome. */
export function payoutDetail(payout: Payout) {
  const shown = asShown(payout);
  return {
    ...payoutCore(shown),
    ...createdAtIso(shown),
    ...outcome(shown),
    ...channelFields(shown),
    narration: shown.narration,
    fee: formatAmount(shown.fee_cents),
  };
}

/** The record in the deprecated list. */
export function listedPayout(payout: Payout) {
  return { ...payoutCore(payout), status: deprecatedStatus(asShown(payout)) };
}

function payoutCore(payout: Payout) {
  return {
    id: payout.id,
    payto: payout.payto,
    amount: formatAmount(payout.amount_cents),
    ref_no: payout.ref_no,
    status: payout.status,
    category: payout.category,
    created_at: formatDateTime(payout.created_at),
  };
}

function channelFields({ channel: code }: Payout) {
  const channel = channelByCode(code);
  return { channel: code, channel_name: channel!.name, channel_type: channel!.type };
}

/** The one record of a reversal, in all answers. */
export function reversalRecord(reversal: Reversal) {
  const { code, label } = REVERSAL_STATES[reversal.status];
  return {
    id: reversal.id,
    ref_no: reversal.ref_no,
    checkout_ref_no: reversal.checkout_ref_no,
    original_trans_id: reversal.original_trans_id,
    amount: formatAmount(reversal.amount_cents),
    reversed_net_amount: formatAmount(netOf(reversal)),
    reversed_commission: formatAmount(reversal.commission_cents),
    status: code,
    status_label: label,
    result_description: reversal.result_description,
    trans_id: reversal.trans_id,
    reason: reversal.reason,
    created_at: reversal.created_at.toISOString(),
    payment_completed_at: reversal.payment_completed_at?.toISOString() ?? null,
  };
}

/** A movement of a wallet, as its merchant sees it. The direction replaces the amount's sign. */
export function walletTransaction(transaction: WalletTransaction) {
  return {
    id: transaction.transaction_id,
    wallet: transaction.account.slice('wallet:'.length),
    type: transaction.type,
    direction: transaction.amount_cents > 0 ? 'credit' : 'debit',
    amount: formatAmount(Math.abs(transaction.amount_cents)),
    balance_after: formatAmount(transaction.balance_after_cents),
    ref_no: transaction.ref_no,
    account: transaction.counterparty,
    trans_id: transaction.trans_id,
    description: transaction.description ?? '',
    created_at: transaction.created_at.toISOString(),
  };
}

/** Returns a presenter of sessions to a person who uses one of them. */
export function sessionRecord(current: string) {
  return ({ id, ip, with_totp, ...times }: Session) => ({
    id,
    created_at: times.created_at.toISOString(),
    refreshed_at: times.refreshed_at.toISOString(),
    expires_at: times.expires_at.toISOString(),
    ends_at: times.ends_at.toISOString(),
    address: ip,
    with_otp: with_totp,
    current: id === current,
  });
}

const CENTS_PER_SHILLING = 100;

/** A channel, with its routes if it has a driver. */
export function channelRecord(
  { code, name, type }: Channel,
  route: ChannelRoute | undefined,
  isPaused: Readonly<Record<'collection' | 'payout', boolean>>,
) {
  const carried = Object.values(route ?? {}).map(({ amounts }) => amounts);
  const carriedOf = (kind: 'collection' | 'payout') => {
    const rule = route?.[kind]?.amounts;
    return rule ? { active: !isPaused[kind], ...amountFields(rule) } : null;
  };
  const [collections, payouts] = [carriedOf('collection'), carriedOf('payout')];
  return {
    code,
    name,
    type,
    active: collections?.active === true || payouts?.active === true,
    ...amountFields(widestOf(carried)),
    collections,
    payouts,
  };
}

function amountFields({ minCents, maxCents, stepCents }: AmountRule) {
  return {
    min_amount: formatAmount(minCents),
    max_amount: formatAmount(maxCents),
    whole_shillings: stepCents % CENTS_PER_SHILLING === 0,
  };
}

/** Returns the amounts that a channel carries at all, be it in one direction only. */
function widestOf(rules: readonly AmountRule[]): AmountRule {
  if (rules.length === 0) return ANY_AMOUNT;
  return {
    minCents: Math.min(...rules.map(({ minCents }) => minCents)),
    maxCents: Math.max(...rules.map(({ maxCents }) => maxCents)),
    stepCents: Math.min(...rules.map(({ stepCents }) => stepCents)),
  };
}

function outcome(payment: Payment) {
  return {
    result_code: payment.result_code,
    result_description: payment.result_description,
    trans_id: payment.trans_id,
    external_ref: payment.external_ref,
    payment_completed_at: payment.payment_completed_at?.toISOString() ?? null,
  };
}

/** The same time as `created_at`, which has the form of the specification. */
function createdAtIso({ created_at }: Payment) {
  return { created_at_iso: created_at.toISOString() };
}

/** The deprecated lists show `processing` as `pending`. */
function deprecatedStatus({ status }: Payment) {
  return status === 'processing' ? 'pending' : status;
}

/** Writes a time as `DD/MM/YYYY HH:MM:SS` in UTC, the form of created_at in the API. */
function formatDateTime(date: Date): string {
  const [day, time] = date.toISOString().split('T') as [string, string];
  return `${day.split('-').reverse().join('/')} ${time.slice(0, 8)}`;
}
