import { v5 as uuidv5 } from 'uuid';
import {
  type Database,
  firstRow,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { lockMerchant } from '../merchants/manage-merchants.ts';
import { formatAmount } from '../money.ts';
import { OperatorRefusal } from '../operator-refusal.ts';

export type OperatorEntryKind = 'topup' | 'adjustment';
export type WalletKind = 'collection' | 'payout';

/** Money that an operator books between the bank account and a merchant's wallet. */
export interface OperatorEntry {
  kind: OperatorEntryKind;
  merchant_id: number;
  wallet: WalletKind;
  /** Signed; what the merchant gains is positive. */
  amount_cents: number;
  /** Unique per merchant, over top-ups and adjustments. */
  reference: string;
  /** What the merchant reads next to it. */
  reason: string;
}

/** An entry as it stands in the ledger. */
export interface BookedEntry {
  kind: OperatorEntryKind;
  wallet: WalletKind;
  amount_cents: number;
  balance_after_cents: number;
  booked_at: Date;
}

/**
 * Books a top-up or an adjustment, once per reference.
 * @returns the entry, and whether an earlier call has booked it.
 * @throws OperatorRefusal when there is no such merchant or wallet, when the payout wallet
 * would go below zero, or when the reference is that of something else.
 */
export async function bookOperatorEntry(
  trx: Transaction,
  entry: OperatorEntry,
): Promise<{ booked: BookedEntry; repeated: boolean }> {
  // Makes an operator's other entries of this merchant wait; payments do not wait.
  await lockMerchant(trx, entry.merchant_id);
  const first = await findEntry(trx, entry);
  if (first) return { booked: sameAs(entry, first), repeated: true };
  await requireBalance(trx, entry);
  const isPosted = await post(trx, entry);
  const booked = sameAs(entry, (await findEntry(trx, entry))!);
  return { booked, repeated: !isPosted };
}

/**
 * A top-up of the payout wallet without an operator, as for a sandbox.
 * @returns whether this call booked it.
 */
export async function topUpPayoutWallet(
  database: Database,
  merchantId: number,
  amountCents: number,
  reference: string,
): Promise<boolean> {
  const { repeated } = await inTransaction(database, (trx) =>
    bookOperatorEntry(trx, {
      kind: 'topup',
      wallet: 'payout',
      merchant_id: merchantId,
      amount_cents: amountCents,
      reference,
      reason: 'Top-up',
    }),
  );
  return !repeated;
}

function post(trx: Transaction, entry: OperatorEntry): Promise<boolean> {
  const { merchant_id: merchantId, kind, amount_cents: amountCents, reference, reason } = entry;
  return postJournal(trx, {
    merchant_id: merchantId,
    source_kind: kind,
    source_id: operatorSourceId(merchantId, reference),
    kind,
    lines: [
      { account: 'bank', amount_cents: -amountCents },
      {
        account: `wallet:${entry.wallet}`,
        amount_cents: amountCents,
        transaction: { type: kind, ref_no: reference, counterparty: null, description: reason },
      },
    ],
  });
}

async function findEntry(
  trx: Transaction,
  { merchant_id: merchantId, reference }: OperatorEntry,
): Promise<BookedEntry | undefined> {
  return firstRow<BookedEntry>(
    trx,
    `SELECT j.source_kind AS kind, substr(e.account, length('wallet:') + 1) AS wallet,
       e.amount_cents, e.balance_after_cents,
       j.created_at AS booked_at
     FROM journals j JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
     WHERE j.merchant_id = :merchant_id AND j.source_kind IN ('topup', 'adjustment')
       AND j.source_id = :source_id AND e.entry_no IS NOT NULL`,
    { merchant_id: merchantId, source_id: operatorSourceId(merchantId, reference) },
  );
}

const NAMES: Readonly<Record<OperatorEntryKind, string>> = {
  topup: 'a top-up',
  adjustment: 'an adjustment',
};

function sameAs(entry: OperatorEntry, first: BookedEntry): BookedEntry {
  const isSame =
    first.kind === entry.kind &&
    first.wallet === entry.wallet &&
    first.amount_cents === entry.amount_cents;
  if (isSame) return first;
  throw new OperatorRefusal(
    `Reference ${entry.reference} of merchant ${entry.merchant_id} is that of ${NAMES[first.kind]} of ${formatAmount(first.amount_cents)} on the ${first.wallet} wallet already`,
  );
}

/** The ledger refuses this too, but in the database's words. */
async function requireBalance(trx: Transaction, entry: OperatorEntry): Promise<void> {
  const { merchant_id: merchantId, wallet, amount_cents: amountCents } = entry;
  const row = await firstRow<{ balance_cents: number }>(
    trx,
    'SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id AND kind = :wallet FOR UPDATE',
    { merchant_id: merchantId, wallet },
  );
  if (!row) throw new OperatorRefusal(`Merchant ${merchantId} has no ${wallet} wallet`);
  if (wallet === 'payout' && row.balance_cents + amountCents < 0) {
    throw new OperatorRefusal(
      `The payout wallet of merchant ${merchantId} holds ${formatAmount(row.balance_cents)}: an adjustment of ${formatAmount(amountCents)} would make it negative`,
    );
  }
}

/** Gives two operators' references the same journal only when merchant and reference are the same. */
const TOPUP_NAMESPACE = '6f1f6a34-7a0e-4c39-9d4b-9f6b4f0d5c7e';

/** What a journal of an operator's reference is booked under, so that each is booked once. */
function operatorSourceId(merchantId: number, reference: string): string {
  return uuidv5(`${merchantId}:${reference}`, TOPUP_NAMESPACE);
}
