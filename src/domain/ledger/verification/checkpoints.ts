import { type Database, firstRow, rows, type Transaction } from '../../../connections/database.ts';
import type { WalletKind } from '../../wallets/operator-entries.ts';

/** An entry of a wallet up to which its chain is right. */
export interface WalletCheckpoint {
  entry_no: number;
  balance_cents: number;
}

/** Before a wallet's first entry. */
export const CHAIN_START: WalletCheckpoint = { entry_no: 0, balance_cents: 0 };

export async function findWalletCheckpoint(
  trx: Transaction,
  merchantId: number,
  wallet: WalletKind,
): Promise<WalletCheckpoint> {
  const found = await firstRow<WalletCheckpoint>(
    trx,
    `SELECT entry_no, balance_cents FROM ledger_checkpoints
     WHERE merchant_id = :merchant_id AND wallet = :wallet`,
    { merchant_id: merchantId, wallet },
  );
  return found ?? CHAIN_START;
}

/**
 * Remembers how far a wallet's chain is right. It only ever moves forward, so two runs at
 * once do no harm. What went on from a checkpoint that is gone proves nothing by itself.
 */
export async function saveWalletCheckpoint(
  database: Database,
  merchantId: number,
  wallet: WalletKind,
  { from, to, verifiedAt }: { from: WalletCheckpoint; to: WalletCheckpoint; verifiedAt: Date },
): Promise<void> {
  if (to.entry_no === from.entry_no) return;
  await rows(
    database,
    from.entry_no === 0
      ? `INSERT INTO ledger_checkpoints AS c
           (merchant_id, wallet, entry_no, balance_cents, verified_at)
         VALUES (:merchant_id, :wallet, :entry_no, :balance_cents, :verified_at)
         ON CONFLICT (merchant_id, wallet) DO UPDATE SET entry_no = excluded.entry_no,
           balance_cents = excluded.balance_cents, verified_at = excluded.verified_at
         WHERE c.entry_no < excluded.entry_no`
      : `UPDATE ledger_checkpoints SET entry_no = :entry_no, balance_cents = :balance_cents,
           verified_at = :verified_at
         WHERE merchant_id = :merchant_id AND wallet = :wallet AND entry_no < :entry_no`,
    {
      merchant_id: merchantId,
      wallet,
      entry_no: to.entry_no,
      balance_cents: to.balance_cents,
      verified_at: verifiedAt,
    },
  );
}

/** Makes every run read a wallet's whole chain, and so report its break, until it is mended. */
export async function dropWalletCheckpoint(
  database: Database,
  merchantId: number,
  wallet: WalletKind,
): Promise<void> {
  await rows(
    database,
    'DELETE FROM ledger_checkpoints WHERE merchant_id = :merchant_id AND wallet = :wallet',
    { merchant_id: merchantId, wallet },
  );
}

/** The moment up to which a merchant's journals and payments are right, if there is one. */
export async function findJournalCheckpoint(
  trx: Transaction,
  merchantId: number,
): Promise<Date | null> {
  const found = await firstRow<{ verified_at: Date }>(
    trx,
    'SELECT verified_at FROM journal_checkpoints WHERE merchant_id = :merchant_id',
    { merchant_id: merchantId },
  );
  return found?.verified_at ?? null;
}

/** As with wallets. */
export async function saveJournalCheckpoint(
  database: Database,
  merchantId: number,
  { from, to }: { from: Date | null; to: Date },
): Promise<void> {
  await rows(
    database,
    from === null
      ? `INSERT INTO journal_checkpoints AS c (merchant_id, verified_at)
         VALUES (:merchant_id, :verified_at)
         ON CONFLICT (merchant_id) DO UPDATE SET verified_at = excluded.verified_at
         WHERE c.verified_at < excluded.verified_at`
      : `UPDATE journal_checkpoints SET verified_at = :verified_at
         WHERE merchant_id = :merchant_id AND verified_at < :verified_at`,
    { merchant_id: merchantId, verified_at: to },
  );
}

export async function dropJournalCheckpoint(database: Database, merchantId: number): Promise<void> {
  await rows(database, 'DELETE FROM journal_checkpoints WHERE merchant_id = :merchant_id', {
    merchant_id: merchantId,
  });
}
