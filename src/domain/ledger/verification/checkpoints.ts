import { type Database, firstRow, rows, type Transaction } from '../../../connections/database.ts';
import type { WalletKind } from '../post-journal.ts';
import type { Verification } from './verify-ledger.ts';

export interface WalletRef {
  merchant_id: number;
  wallet: WalletKind;
}

/** An entry of a wallet. The chain has no break up to it. */
export interface WalletCheckpoint {
  entry_no: number;
  balance_cents: number;
}

/** A part of a wallet's chain that has no break. */
export interface VerifiedChain extends WalletRef {
  from: WalletCheckpoint;
  end: WalletCheckpoint;
}

/** The checkpoint before a wallet's first entry. */
export const CHAIN_START: WalletCheckpoint = { entry_no: 0, balance_cents: 0 };

export async function findWalletCheckpoint(
  trx: Transaction,
  wallet: WalletRef,
): Promise<WalletCheckpoint> {
  const found = await firstRow<WalletCheckpoint>(
    trx,
    `SELECT entry_no, balance_cents FROM ledger_checkpoints
     WHERE merchant_id = :merchant_id AND wallet = :wallet`,
    wallet,
  );
  return found ?? CHAIN_START;
}

/**
 * Saves how far a wallet's chain is verified. A checkpoint only moves forward, so two runs at
 * once do no harm. A run that began at a checkpoint does not save one if that was deleted
 * meanwhile: it has not seen the chain before it.
 */
export async function saveWalletCheckpoint(
  database: Database,
  { merchant_id, wallet, from, end }: VerifiedChain,
  verified_at: Date,
): Promise<void> {
  if (end.entry_no === from.entry_no) return;
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
    { merchant_id, wallet, ...end, verified_at },
  );
}

/** Deletes a wallet's checkpoint. Every run then reads the whole chain and reports its break. */
export async function deleteWalletCheckpoint(database: Database, wallet: WalletRef): Promise<void> {
  await rows(
    database,
    'DELETE FROM ledger_checkpoints WHERE merchant_id = :merchant_id AND wallet = :wallet',
    wallet,
  );
}

/** Returns the moment up to which a merchant's journals and payments are verified, if any. */
export async function findJournalCheckpoint(
  trx: Transaction,
  merchant_id: number,
): Promise<Date | null> {
  const found = await firstRow<{ verified_at: Date }>(
    trx,
    'SELECT verified_at FROM journal_checkpoints WHERE merchant_id = :merchant_id',
    { merchant_id },
  );
  return found?.verified_at ?? null;
}

/** Saves how far a merchant's journals are verified, by the rules of `saveWalletCheckpoint`. */
export async function saveJournalCheckpoint(
  database: Database,
  checked: { merchant_id: number; from: Date | null; verified_at: Date },
): Promise<void> {
  await rows(
    database,
    checked.from === null
      ? `INSERT INTO journal_checkpoints AS c (merchant_id, verified_at)
         VALUES (:merchant_id, :verified_at)
         ON CONFLICT (merchant_id) DO UPDATE SET verified_at = excluded.verified_at
         WHERE c.verified_at < excluded.verified_at`
      : `UPDATE journal_checkpoints SET verified_at = :verified_at
         WHERE merchant_id = :merchant_id AND verified_at < :verified_at`,
    checked,
  );
}

export async function deleteJournalCheckpoint(database: Database, merchant_id: number) {
  const sql = 'DELETE FROM journal_checkpoints WHERE merchant_id = :merchant_id';
  await rows(database, sql, { merchant_id });
}

export interface LastVerification extends Omit<Verification, 'counts'> {
  verified_at: Date;
  counts: Partial<Verification['counts']>;
}

/** Stores the result of a run over all merchants, so that every process can read it. */
export async function recordVerification(
  database: Database,
  { checked, counts, breaks }: Verification,
): Promise<void> {
  await rows(
    database,
    `INSERT INTO last_ledger_verification (verified_at, checked, counts, breaks)
     VALUES (now(), CAST(:checked AS jsonb), CAST(:counts AS jsonb), CAST(:breaks AS jsonb))
     ON CONFLICT (is_only) DO UPDATE SET verified_at = excluded.verified_at,
       checked = excluded.checked, counts = excluded.counts, breaks = excluded.breaks`,
    {
      checked: JSON.stringify(checked),
      counts: JSON.stringify(counts),
      breaks: JSON.stringify(breaks),
    },
  );
}

/** Reads the result of the last scheduled run; undefined before the first one. */
export function lastVerification(database: Database): Promise<LastVerification | undefined> {
  return firstRow<LastVerification>(
    database,
    'SELECT verified_at, checked, counts, breaks FROM last_ledger_verification',
  );
}
