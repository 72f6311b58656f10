import { type Database, firstRow, rows, type Transaction } from '../../../connections/database.ts';
import { PAYMENT_KINDS } from '../../payments/payment-summary.ts';
import { WALLET_KINDS } from '../post-journal.ts';
import { BREAK_KINDS, type Break, type BreakKind, type Finding } from './breaks.ts';
import { checkAccounts } from './check-accounts.ts';
import { checkJournals } from './check-journals.ts';
import { checkPayments } from './check-payments.ts';
import { checkWallet } from './check-wallet.ts';
import {
  CHAIN_START,
  deleteJournalCheckpoint,
  deleteWalletCheckpoint,
  findJournalCheckpoint,
  findWalletCheckpoint,
  saveJournalCheckpoint,
  saveWalletCheckpoint,
  type VerifiedChain,
  type WalletRef,
} from './checkpoints.ts';
import { scopeOf } from './scope.ts';
import { inSnapshot } from './snapshot.ts';

export interface VerifyOptions {
  /** Checks only this merchant. */
  merchant_id?: number | undefined;
  /** Reads everything, not only what came after the checkpoints. */
  full?: boolean;
  /** Ends the run early: the reason is thrown. */
  signal?: AbortSignal;
}

/** The number of rows that were read. */
export interface Checked {
  merchants: number;
  entries: number;
  journals: number;
  payments: number;
}

export interface Verification {
  checked: Checked;
  counts: Record<BreakKind, number>;
  /** The first MAX_BREAKS of the breaks. */
  breaks: Break[];
}

/** More breaks than these need no longer list. */
const MAX_BREAKS = 1_000;

/**
 * Verifies the books: journals, payments, wallets, and the accounts for money in flight and in
 * suspense. Each merchant is read in one snapshot, so payments that move meanwhile are not
 * reported, and nothing is locked. The next run does not read again what is verified.
 */
export async function verifyLedger(
  database: Database,
  { merchant_id, full = false, signal = new AbortController().signal }: VerifyOptions = {},
): Promise<Verification> {
  const checked: Checked = { merchants: 0, entries: 0, journals: 0, payments: 0 };
  const counts = Object.fromEntries(BREAK_KINDS.map((kind) => [kind, 0]));
  const breaks: Break[] = [];
  const merchants =
    merchant_id === undefined
      ? await rows<{ id: number }>(database, 'SELECT id FROM merchants ORDER BY id')
      : [{ id: merchant_id }];
  for (const { id } of merchants) {
    const state = await inSnapshot(database, (trx) => verifyMerchant(trx, id, full, signal));
    await keepCheckpoints(database, id, state, full);
    checked.merchants += 1;
    checked.entries += state.wallets.reduce((sum, { entries }) => sum + entries, 0);
    checked.journals += state.journals;
    checked.payments += state.payments;
    for (const { kind, ...rest } of state.findings) {
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (breaks.length < MAX_BREAKS) breaks.push({ kind, merchant_id: id, ...rest });
    }
  }
  return { checked, counts: counts as Verification['counts'], breaks };
}

interface WalletState extends VerifiedChain {
  entries: number;
  isRight: boolean;
}

interface MerchantState {
  /** The time of the snapshot, or a moment before. */
  verified_at: Date;
  from: Date | null;
  wallets: WalletState[];
  journals: number;
  payments: number;
  areJournalsRight: boolean;
  findings: Finding[];
}

async function verifyMerchant(
  trx: Transaction,
  merchantId: number,
  full: boolean,
  signal: AbortSignal,
): Promise<MerchantState> {
  const now = await firstRow<{ verified_at: Date }>(trx, 'SELECT now() AS verified_at');
  const from = full ? null : await findJournalCheckpoint(trx, merchantId);
  const scope = scopeOf(merchantId, from, signal);
  const findings: Finding[] = [];
  const report = (finding: Finding) => void findings.push(finding);
  const journals = await checkJournals(trx, scope, report);
  let payments = 0;
  for (const kind of PAYMENT_KINDS) payments += await checkPayments(trx, kind, scope, report);
  const areJournalsRight = findings.length === 0;
  const wallets: WalletState[] = [];
  for (const wallet of WALLET_KINDS) {
    const ref = { merchant_id: merchantId, wallet };
    wallets.push(await verifyWallet(trx, ref, { full, signal }, findings));
  }
  await checkAccounts(trx, merchantId, report);
  return { ...now!, from, wallets, journals, payments, areJournalsRight, findings };
}

async function verifyWallet(
  trx: Transaction,
  wallet: WalletRef,
  { full, signal }: { full: boolean; signal: AbortSignal },
  findings: Finding[],
): Promise<WalletState> {
  const from = full ? CHAIN_START : await findWalletCheckpoint(trx, wallet);
  const before = findings.length;
  const scope = { ...wallet, from, signal };
  const { end, entries } = await checkWallet(trx, scope, (finding) => findings.push(finding));
  return { ...wallet, from, end, entries, isRight: findings.length === before };
}

/**
 * Saves checkpoints for what is right. A break that only a full run can see deletes the
 * checkpoint, so that later runs report it too until it is repaired.
 */
async function keepCheckpoints(
  database: Database,
  merchantId: number,
  { verified_at, from, wallets, areJournalsRight }: MerchantState,
  full: boolean,
): Promise<void> {
  for (const wallet of wallets) {
    if (wallet.isRight) await saveWalletCheckpoint(database, wallet, verified_at);
    else if (full) await deleteWalletCheckpoint(database, wallet);
  }
  if (areJournalsRight) await saveJournalCheckpoint(database, merchantId, { from, verified_at });
  else if (full) await deleteJournalCheckpoint(database, merchantId);
}
