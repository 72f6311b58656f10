import { v5 as uuidv5 } from 'uuid';
import { type Database, inTransaction, rows } from '../../database.ts';
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
      sourceId: operatorSourceId(merchantId, reference),
      kind: 'topup',
      lines: [
        { account: 'bank', amountCents: -amountCents },
        {
          account: 'wallet:payout',
          amountCents,
          transaction: {
            type: 'topup',
            refNo: reference,
            counterparty: null,
            description: 'Top-up',
          },
        },
      ],
    }),
  );
}

/** What a journal of an operator's reference is booked under, so that each is booked once. */
export function operatorSourceId(merchantId: number, reference: string): string {
  return uuidv5(`${merchantId}:${reference}`, TOPUP_NAMESPACE);
}

/** A wallet's balance in cents, or null when the merchant has no such wallet. */
export async function walletBalance(
  database: Database,
  merchantId: number,
  kind: 'collection' | 'payout',
): Promise<number | null> {
  const balances = await walletBalances(database, merchantId);
  return balances[kind] ?? null;
}

/** The balances of a merchant's wallets in cents; what is missing was never set up. */
export async function walletBalances(
  database: Database,
  merchantId: number,
): Promise<{ collection?: number; payout?: number }> {
  const wallets = await rows<{ kind: string; balance_cents: number }>(
    database,
    'SELECT kind, balance_cents FROM wallets WHERE merchant_id = :merchant_id',
    { merchant_id: merchantId },
  );
  return Object.fromEntries(wallets.map((wallet) => [wallet.kind, wallet.balance_cents]));
}
