import { v5 as uuidv5 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { lockUnknown } from '../discrepancies/booked-by-hand.ts';
import { IS_UNOWNED } from '../discrepancies/unknown-money.ts';
import { OperatorRefusal } from '../errors.ts';
import { type JournalLine, postJournal, type WalletKind } from '../ledger/post-journal.ts';
import { lockMerchant } from '../merchants/merchant.ts';
import { formatAmount } from '../money.ts';
import { plainName } from '../plain-name.ts';
import { namesOf, refuseOwnedReceipt } from './owned-receipts.ts';

export type OperatorEntryKind = 'topup' | 'adjustment';

/** The operator's accounts that a wallet can be corrected against. */
export const CORRECTED_AGAINST = ['bank', 'losses'] as const;

/** A top-up or an adjustment of a merchant's wallet. */
export interface OperatorEntry {
  kind: OperatorEntryKind;
  merchant_id: number;
  wallet: WalletKind;
  /** Signed: the merchant's gain is positive. */
  amount_cents: number;
  /** Unique per merchant, for top-ups and adjustments together. */
  reference: string;
  /** The source of its journal. Default: made from the reference. */
  source_id?: string;
  /** The merchant reads this next to the entry. */
  reason: string;
  /** The account of the operator, or the other lines of the journal. Default: the bank account. */
  against?: (typeof CORRECTED_AGAINST)[number] | readonly JournalLine[];
}

/** An entry as it is in the ledger. */
export interface BookedEntry extends Pick<OperatorEntry, 'kind' | 'wallet' | 'amount_cents'> {
  balance_after_cents: number;
  booked_at: Date;
  /** Null for an adoption. */
  against: (typeof CORRECTED_AGAINST)[number] | null;
}

/** What an operator is told about references. */
export const ENTRY_REFERENCE =
  '1 to 50 letters, digits, dashes, underscores, full stops, slashes, and blanks between them';

/**
 * Tells whether a text is a reference as operators write it. A receipt of a bank may have full stops and slashes, and a word that a customer has
 * typed may have blanks.
 */
export function isEntryReference(text: string): boolean {
  return /^[\w./ -]{1,50}$/.test(text) && text.trim() === text && plainName(text) !== '';
}

/** The effect that an entry would have. */
export interface EntryPreview {
  balance_cents: number;
  balance_after_cents: number;
}

/**
 * Says what an entry would do, and books nothing.
 * @throws OperatorRefusal when it could not be booked, or is booked already
 */
export async function previewOperatorEntry(
  database: Database | Transaction,
  entry: OperatorEntry,
): Promise<EntryPreview> {
  const first = await findEntry(database, entry);
  if (first) {
    sameAs(entry, first);
    throw new OperatorRefusal(`Reference ${entry.reference} was booked before`);
  }
  if (isCorrection(entry)) await refuseOwnedReceipt(database, entry);
  await refuseNameOfQuestion(database, entry);
  const balance_cents = await requireBalance(database, entry, '');
  return { balance_cents, balance_after_cents: balance_cents + entry.amount_cents };
}

/**
 * Books a top-up or an adjustment, once per reference, with the line for the audit log.
 * @throws OperatorRefusal as `bookOperatorEntry`
 */
export async function bookAuditedEntry(
  trx: Transaction,
  entry: OperatorEntry,
): Promise<AuditedChange<{ booked: BookedEntry; repeated: boolean }>> {
  const value = await bookOperatorEntry(trx, entry);
  const { merchant_id, reference, wallet } = entry;
  const { amount_cents, balance_after_cents, against } = value.booked;
  const details = {
    reference,
    against,
    amount: formatAmount(amount_cents),
    balance_after: formatAmount(balance_after_cents),
  };
  const subject = `${wallet} wallet of merchant ${merchant_id}`;
  return { value, audit: value.repeated ? null : { merchant_id, subject, details } };
}

/**
 * Books a top-up or an adjustment, once per reference.
 * @returns the entry, and whether an earlier call has booked it.
 * @throws OperatorRefusal when there is no such merchant or wallet, when the payout wallet would go below zero, when
 * another entry has the reference, or when an adjustment has the receipt of a payment
 */
export async function bookOperatorEntry(
  trx: Transaction,
  entry: OperatorEntry,
): Promise<{ booked: BookedEntry; repeated: boolean }> {
  // Makes other operator entries of this merchant wait. Payments do not wait.
  await lockMerchant(trx, entry.merchant_id);
  const first = await findEntry(trx, entry);
  if (first) return { booked: sameAs(entry, first), repeated: true };
  if (isCorrection(entry)) {
    await lockUnknown(trx, namesOf(entry));
    await refuseOwnedReceipt(trx, entry);
  }
  await refuseNameOfQuestion(trx, entry);
  await requireBalance(trx, entry, 'FOR UPDATE');
  const isPosted = await post(trx, entry);
  if (isCorrection(entry)) await freeRow(trx, entry);
  const booked = sameAs(entry, (await findEntry(trx, entry))!);
  return { booked, repeated: !isPosted };
}

/**
 * A row that support has dismissed counts for money that is back. If it is booked by hand afterwards, it was other money,
 * of whatever merchant.
 */
async function freeRow(trx: Transaction, entry: OperatorEntry): Promise<void> {
  await rows(
    trx,
    `UPDATE movements m SET row_back = NULL FROM discrepancies d
     WHERE d.kind = 'money_back' AND d.trans_id = ANY (:names) AND d.resolution = 'dismissed'
       AND m.gateway = d.gateway AND m.row_back = d.trans_id`,
    { names: namesOf(entry) },
  );
}

function post(trx: Transaction, entry: OperatorEntry): Promise<boolean> {
  const { merchant_id, kind } = entry;
  const { source_id = sourceIdOf(entry) } = entry;
  const lines = linesOfEntry(entry);
  return postJournal(trx, { merchant_id, source_kind: kind, source_id, kind, lines });
}

/** Returns the lines of an entry's journal. */
export function linesOfEntry(entry: OperatorEntry): JournalLine[] {
  const { kind, amount_cents, reference, reason } = entry;
  const { against = 'bank' } = entry;
  const others =
    typeof against === 'string' ? [{ account: against, amount_cents: -amount_cents }] : against;
  const transaction = { type: kind, ref_no: reference, counterparty: null, description: reason };
  return [...others, { account: `wallet:${entry.wallet}`, amount_cents, transaction }];
}

/** Finds the entry, or the adoption in force, that is booked under a reference. */
export async function findEntry(
  database: Database | Transaction,
  entry: Pick<OperatorEntry, 'merchant_id' | 'reference'>,
): Promise<BookedEntry | undefined> {
  return firstRow<BookedEntry>(
    database,
    `SELECT j.source_kind AS kind, substr(e.account, length('wallet:') + 1) AS wallet,
       e.amount_cents, e.balance_after_cents, j.created_at AS booked_at, other.account AS against
     FROM journals j JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
     LEFT JOIN entries other ON other.merchant_id = j.merchant_id AND other.journal_id = j.id
       AND other.account IN ('bank', 'losses')
     WHERE j.merchant_id = :merchant_id AND j.source_kind IN ('topup', 'adjustment')
       AND j.source_id IN (SELECT CAST(:source_id AS uuid) UNION ALL
         SELECT id FROM adoptions WHERE merchant_id = :merchant_id AND receipt IN (:reference, upper(:reference))
           AND taken_back_at IS NULL)
       AND j.kind = j.source_kind AND e.entry_no IS NOT NULL`,
    { ...entry, source_id: sourceIdOf(entry) },
  );
}

const NAMES: Readonly<Record<OperatorEntryKind, string>> = {
  topup: 'a top-up',
  adjustment: 'an adjustment',
};

function sameAs(entry: OperatorEntry, first: BookedEntry): BookedEntry {
  const { against = 'bank' } = entry;
  const isSame =
    first.kind === entry.kind &&
    first.wallet === entry.wallet &&
    first.amount_cents === entry.amount_cents &&
    (first.against === against || first.against === null || typeof against !== 'string');
  if (isSame) return first;
  const account = first.against === 'losses' ? ', against losses' : '';
  throw new OperatorRefusal(
    `Reference ${entry.reference} of merchant ${entry.merchant_id} is taken: it names ${NAMES[first.kind]} of ${formatAmount(first.amount_cents)} on the ${first.wallet} wallet${account}`,
  );
}

/** Refuses a top-up under the name of money that somebody is asked about: only an adjustment answers for such money. */
async function refuseNameOfQuestion(
  executor: Database | Transaction,
  entry: OperatorEntry,
): Promise<void> {
  if (entry.kind !== 'topup') return;
  const isAsked = await hasRow(
    executor,
    `SELECT 1 FROM discrepancies WHERE ${IS_UNOWNED} AND resolved_at IS NULL AND trans_id = ANY (:names)`,
    { names: namesOf(entry) },
  );
  if (!isAsked) return;
  throw new OperatorRefusal(
    `${entry.reference} is the name of money that is a question: book it by an adjustment (wallet adjust)`,
  );
}

/** An adoption, which has a source of its own, claims its receipt itself. */
function isCorrection({ kind, source_id }: OperatorEntry): boolean {
  return kind === 'adjustment' && source_id === undefined;
}

/**
 * Refuses a negative payout wallet in plain words. The database would refuse it as well.
 * @returns the balance before the entry, in cents
 */
async function requireBalance(
  database: Database | Transaction,
  entry: OperatorEntry,
  lock: 'FOR UPDATE' | '',
): Promise<number> {
  const { merchant_id, wallet, amount_cents } = entry;
  const row = await firstRow<{ balance_cents: number }>(
    database,
    `SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id AND kind = :wallet ${lock}`,
    entry,
  );
  if (!row) throw new OperatorRefusal(`Merchant ${merchant_id} has no ${wallet} wallet`);
  if (wallet === 'payout' && row.balance_cents + amount_cents < 0) {
    throw new OperatorRefusal(
      `The payout wallet of merchant ${merchant_id} holds ${formatAmount(row.balance_cents)}: an adjustment of ${formatAmount(amount_cents)} would make it negative`,
    );
  }
  return row.balance_cents;
}

/** The namespace of the UUIDs of version 5 that `sourceIdOf` makes. */
const OPERATOR_ENTRIES = '6f1f6a34-7a0e-4c39-9d4b-9f6b4f0d5c7e';

/**
 * Makes the source id of the journal from merchant and reference, so each is booked once, however it is written.
 */
function sourceIdOf({
  merchant_id,
  reference,
}: Pick<OperatorEntry, 'merchant_id' | 'reference'>): string {
  return uuidv5(`${merchant_id}:${plainName(reference)}`, OPERATOR_ENTRIES);
}

/** An entry as it waits for a second person. The entry takes the reason of the request. */
export type AskedEntry = Omit<OperatorEntry, 'reason'>;

/**
 * Books the top-up or the adjustment that a second person has approved.
 * @throws OperatorRefusal when it cannot be booked any more, or its reference is booked already
 */
export async function bookAsAsked(
  trx: Transaction,
  entry: AskedEntry,
  { reason }: { reason: string },
): Promise<AuditedChange<{ booked: BookedEntry; repeated: boolean }>> {
  const change = await bookAuditedEntry(trx, { ...entry, reason });
  if (!change.value.repeated) return change;
  throw new OperatorRefusal(`Reference ${entry.reference} was booked before`);
}
