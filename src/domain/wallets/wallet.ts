import { type Database, rows } from '../../connections/database.ts';

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
