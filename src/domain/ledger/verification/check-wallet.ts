import { firstRow, type Transaction } from '../../../connections/database.ts';
import { formatAmount } from '../../money.ts';
import type { WalletKind } from '../post-journal.ts';
import {
  CHAIN_START,
  findWalletCheckpoint,
  type VerifiedChain,
  type WalletCheckpoint,
  type WalletRef,
} from './checkpoints.ts';
import { type CheckOptions, eachRow, type Finding } from './checks.ts';

/** The part of a wallet's chain that was read, and its number of entries. */
interface CheckedChain extends VerifiedChain {
  entries: number;
  isRight: boolean;
}

interface ChainedEntry extends WalletCheckpoint {
  amount_cents: number;
}

/**
 * Checks a wallet's chain of entries after its checkpoint, or with `full` the whole chain, and
 * that the chain ends in the wallet.
 */
export async function checkWallet(
  trx: Transaction,
  ref: WalletRef,
  { full, signal }: CheckOptions,
  findings: Finding[],
): Promise<CheckedChain> {
  const { merchant_id, wallet } = ref;
  const from = full ? CHAIN_START : await findWalletCheckpoint(trx, ref);
  const before = findings.length;
  const account = `wallet:${wallet}`;
  const query = { sql: CHAIN, bindings: { merchant_id, account, entry_no: from.entry_no } };
  let end: WalletCheckpoint = from;
  const entries = await eachRow<ChainedEntry>(trx, signal, query, (entry) => {
    checkLink(wallet, end, entry, findings);
    end = entry;
  });
  await checkEnd(trx, ref, findings);
  return { ...ref, from, end, entries, isRight: findings.length === before };
}

const CHAIN = `
  SELECT entry_no, amount_cents, balance_after_cents AS balance_cents FROM entries
  WHERE merchant_id = :merchant_id AND account = :account AND entry_no > :entry_no
  ORDER BY entry_no`;

function checkLink(
  wallet: WalletKind,
  before: WalletCheckpoint,
  entry: ChainedEntry,
  findings: Finding[],
): void {
  const about = { subject: `${wallet} wallet`, id: `entry ${entry.entry_no}` };
  if (entry.entry_no !== before.entry_no + 1) {
    const expected = `entry ${before.entry_no + 1}`;
    findings.push({ kind: 'chain_gap', ...about, expected, found: about.id });
    return;
  }
  const expectedCents = before.balance_cents + entry.amount_cents;
  if (entry.balance_cents === expectedCents) return;
  const found = formatAmount(entry.balance_cents);
  findings.push({ kind: 'chain_balance', ...about, expected: formatAmount(expectedCents), found });
}

interface EndRow {
  wallet_no: number | null;
  wallet_cents: number | null;
  entry_no: number;
  entry_cents: number;
}

/** Looks up the newest entry of all, because there may be none after the checkpoint. */
async function checkEnd(trx: Transaction, ref: WalletRef, findings: Finding[]): Promise<void> {
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
    ref,
  );
  const { wallet_no, wallet_cents, entry_no, entry_cents } = row!;
  if ((wallet_no ?? 0) === entry_no && (wallet_cents ?? 0) === entry_cents) return;
  findings.push({
    kind: 'wallet_astray',
    subject: 'wallet',
    id: ref.wallet,
    expected: `${formatAmount(entry_cents)} after entry ${entry_no}`,
    found:
      wallet_no === null ? 'no wallet' : `${formatAmount(wallet_cents!)} after entry ${wallet_no}`,
  });
}
