import { v5 as uuidv5 } from 'uuid';
import { firstRow, type Transaction } from '../../connections/database.ts';
import { postJournal, type WalletKind } from '../ledger/post-journal.ts';
import { lockMerchant } from '../merchants/manage-merchants.ts';
import { formatAmount } from '../money.ts';
import { OperatorRefusal } from '../operator-refusal.ts';

export type OperatorEntryKind = 'topup' | 'adjustment';

/** A top-up or an adjustment: money between the bank account and a merchant's wallet. */
export interface OperatorEntry {
  kind: OperatorEntryKind;
  merchant_id: number;
  wallet: WalletKind;
  /** Signed: the merchant's gain is positive. */
  amount_cents: number;
  /** Unique per merchant, for top-ups and adjustments together. */
  reference: string;
  /** The merchant reads this next to the entry. */
  reason: string;
}

/** An entry as it is in the ledger. */
export interface BookedEntry extends Pick<OperatorEntry, 'kind' | 'wallet' | 'amount_cents'> {
  balance_after_cents: number;
  booked_at: Date;
}

/**
 * Books a top-up or an adjustment, once per reference.
 * @returns the entry, and whether an earlier call has booked it.
 * @throws OperatorRefusal when there is no such merchant or wallet, when the payout wallet
 * would go below zero, or when another entry has the reference.
 */
export async function bookOperatorEntry(
  trx: Transaction,
  entry: OperatorEntry,
): Promise<{ booked: BookedEntry; repeated: boolean }> {
  // Makes other operator entries of this merchant wait. Payments do not wait.
  await lockMerchant(trx, entry.merchant_id);
  const first = await findEntry(trx, entry);
  if (first) return { booked: sameAs(entry, first), repeated: true };
  await requireBalance(trx, entry);
  const isPosted = await post(trx, entry);
  const booked = sameAs(entry, (await findEntry(trx, entry))!);
  return { booked, repeated: !isPosted };
}

function post(trx: Transaction, entry: OperatorEntry): Promise<boolean> {
  const { merchant_id, kind, amount_cents, reference, reason } = entry;
  return postJournal(trx, {
    merchant_id,
    source_kind: kind,
    source_id: sourceIdOf(entry),
    kind,
    lines: [
      { account: 'bank', amount_cents: -amount_cents },
      {
        account: `wallet:${entry.wallet}`,
        amount_cents,
        transaction: { type: kind, ref_no: reference, counterparty: null, description: reason },
      },
    ],
  });
}

async function findEntry(trx: Transaction, entry: OperatorEntry): Promise<BookedEntry | undefined> {
  return firstRow<BookedEntry>(
    trx,
    `SELECT j.source_kind AS kind, substr(e.account, length('wallet:') + 1) AS wallet,
       e.amount_cents, e.balance_after_cents, j.created_at AS booked_at
     FROM journals j JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
     WHERE j.merchant_id = :merchant_id AND j.source_kind IN ('topup', 'adjustment')
       AND j.source_id = :source_id AND e.entry_no IS NOT NULL`,
    { ...entry, source_id: sourceIdOf(entry) },
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

/** Refuses a negative payout wallet in plain words. The database would refuse it as well. */
async function requireBalance(trx: Transaction, entry: OperatorEntry): Promise<void> {
  const { merchant_id, wallet, amount_cents } = entry;
  const row = await firstRow<{ balance_cents: number }>(
    trx,
    'SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id AND kind = :wallet FOR UPDATE',
    entry,
  );
  if (!row) throw new OperatorRefusal(`Merchant ${merchant_id} has no ${wallet} wallet`);
  if (wallet === 'payout' && row.balance_cents + amount_cents < 0) {
    throw new OperatorRefusal(
      `The payout wallet of merchant ${merchant_id} holds ${formatAmount(row.balance_cents)}: an adjustment of ${formatAmount(amount_cents)} would make it negative`,
    );
  }
}

/** The namespace of the UUIDs of version 5 that `sourceIdOf` makes. */
const OPERATOR_ENTRIES = '6f1f6a34-7a0e-4c39-9d4b-9f6b4f0d5c7e';

/** Makes the source id of the journal from merchant and reference, so each is booked once. */
function sourceIdOf({ merchant_id, reference }: OperatorEntry): string {
  return uuidv5(`${merchant_id}:${reference}`, OPERATOR_ENTRIES);
}
