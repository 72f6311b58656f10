import { v5 as uuidv5 } from 'uuid';
import { type Database, firstRow, inTransaction } from '../../database.ts';
import { postJournal } from './ledger.ts';

/** Gives two operators' references the same journal only when merchant and reference are the same. */
const TOPUP_NAMESPACE = '6f1f6a34-7a0e-4c39-9d4b-9f6b4f0d5c7e';

/**
 * Money that the operator received in the bank for a merchant's payout wallet, in cents.
 * `reference` is unique per merchant: the same one again changes nothing.
 * @returns whether this call booked it.
 */
export async function topUpPayoutWallet(
  database: Database,
  merchantId: number,
  amountCents: number,
  reference: string,
): Promise<boolean> {
  return inTransaction(database, (trx) =>
    postJournal(trx, {
      merchantId,
      sourceKind: 'topup',
      sourceId: uuidv5(`${merchantId}:${reference}`, TOPUP_NAMESPACE),
      kind: 'topup',
      lines: [
        { account: 'bank', amountCents: -amountCents },
        { account: 'wallet:payout', amountCents },
      ],
    }),
  );
}

/** A wallet's balance in cents, or null when the merchant has no such wallet. */
export async function walletBalance(
  database: Database,
  merchantId: number,
  kind: 'collection' | 'payout',
): Promise<number | null> {
  const row = await firstRow<{ balance_cents: number }>(
    database,
    'SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id AND kind = :kind',
    { merchant_id: merchantId, kind },
  );
  return row?.balance_cents ?? null;
}
