import { type Database, rows } from '../../connections/database.ts';
import type { WalletKind } from '../ledger/post-journal.ts';

/** Reads the balances of a merchant's wallets in cents. A missing wallet is left out. */
export async function walletBalances(
  database: Database,
  merchantId: number,
): Promise<Partial<Record<WalletKind, number>>> {
  const wallets = await rows<{ kind: string; balance_cents: number }>(
    database,
    'SELECT kind, balance_cents FROM wallets WHERE merchant_id = :merchant_id',
    { merchant_id: merchantId },
  );
  return Object.fromEntries(wallets.map((wallet) => [wallet.kind, wallet.balance_cents]));
}
