import type { Database } from '../../src/connections/database.ts';
import type { WalletKind } from '../../src/domain/ledger/post-journal.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';

/** Reads a wallet's balance in cents; null when the merchant has no such wallet. */
export async function walletBalance(
  database: Database,
  merchantId: number,
  kind: WalletKind,
): Promise<number | null> {
  const balances = await walletBalances(database, merchantId);
  return balances[kind] ?? null;
}
