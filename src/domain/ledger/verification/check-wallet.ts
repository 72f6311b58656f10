import { firstRow, type Transaction } from '../../../connections/database.ts';
import { formatAmount } from '../../money.ts';
import type { WalletKind } from '../post-journal.ts';
import type { Report } from './breaks.ts';
import type { WalletCheckpoint, WalletRef } from './checkpoints.ts';
import { eachRow } from './snapshot.ts';

interface WalletScope extends WalletRef {
  /** The last entry that was verified before. */
  from: WalletCheckpoint;
  signal: AbortSignal;
}

interface ChainedEntry {
  entry_no: number;
  amount_cents: number;
  balance_cents: number;
}

/**
 * Checks a wallet's chain of entries after a checkpoint, and that the chain ends in the wallet.
 * @returns the newest entry, and how many entries were read.
 */
export async function checkWallet(
  trx: Transaction,
  scope: WalletScope,
  report: Report,
): Promise<{ end: WalletCheckpoint; entries: number }> {
  const { merchant_id, wallet, from, signal } = scope;
  const account = `wallet:${wallet}`;
  const query = { sql: CHAIN, bindings: { merchant_id, account, entry_no: from.entry_no } };
  let end = from;
  const entries = await eachRow<ChainedEntry>(trx, signal, query, (entry) => {
    checkLink(wallet, end, entry, report);
    end = { entry_no: entry.entry_no, balance_cents: entry.balance_cents };
  });
  await checkEnd(trx, scope, report);
  return { end, entries };
}

const CHAIN = `
  SELECT entry_no, amount_cents, balance_after_cents AS balance_cents FROM entries
  WHERE merchant_id = :merchant_id AND account = :account AND entry_no > :entry_no
  ORDER BY entry_no`;

function checkLink(
  wallet: WalletKind,
  before: WalletCheckpoint,
  entry: ChainedEntry,
  report: Report,
): void {
  const about = { subject: `${wallet} wallet`, id: `entry ${entry.entry_no}` };
  if (entry.entry_no !== before.entry_no + 1) {
    const expected = `entry ${before.entry_no + 1}`;
    report({ kind: 'chain_gap', ...about, expected, found: about.id });
    return;
  }
  const expectedCents = before.balance_cents + entry.amount_cents;
  if (entry.balance_cents === expectedCents) return;
  const found = formatAmount(entry.balance_cents);
  report({ kind: 'chain_balance', ...about, expected: formatAmount(expectedCents), found });
}

interface EndRow {
  wallet_no: number | null;
  wallet_cents: number | null;
  entry_no: number;
  entry_cents: number;
}

/** Looks up the newest entry of all, because there may be none after the checkpoint. */
async function checkEnd(
  trx: Transaction,
  { merchant_id, wallet }: WalletScope,
  report: Report,
): Promise<void> {
  const row = await firstRow<EndRow>(
    trx,
    `SELECT w.entry_no AS wallet_no, w.balance_cents AS wallet_cents,
       coalesce(newest.entry_no, 0) AS entry_no,
       coalesce(newest.balance_after_cents, 0) AS entry_cents
     FROM (VALUES (CAST(:wallet AS text))) AS wanted (kind)
     LEFT JOIN wallets w ON w.merchant_id = :merchant_id AND w.kind = wanted.kind
     LEFT JOIN LATERAL (
       SELECT entry_no, balance_after_cents FROM entries
       WHERE merchant_id = :merchant_id AND account = 'wallet:' || wanted.kind
         AND entry_no IS NOT NULL
       ORDER BY entry_no DESC LIMIT 1
     ) newest ON true`,
    { merchant_id, wallet },
  );
  const { wallet_no, wallet_cents, entry_no, entry_cents } = row!;
  if ((wallet_no ?? 0) === entry_no && (wallet_cents ?? 0) === entry_cents) return;
  report({
    kind: 'wallet_astray',
    subject: 'wallet',
    id: wallet,
    expected: `${formatAmount(entry_cents)} after entry ${entry_no}`,
    found:
      wallet_no === null ? 'no wallet' : `${formatAmount(wallet_cents!)} after entry ${wallet_no}`,
  });
}
