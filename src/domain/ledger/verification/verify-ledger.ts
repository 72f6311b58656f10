import { type Database, firstRow, rows, type Transaction } from '../../../connections/database.ts';
import type { GatewayPaymentKind } from '../../gateway-results.ts';
import type { WalletKind } from '../../wallets/operator-entries.ts';
import { BREAK_KINDS, type Break, type BreakKind, type Finding } from './breaks.ts';
import { checkJournals } from './check-journals.ts';
import { checkPayments } from './check-payments.ts';
import { checkInFlight, checkSuspense } from './check-sums.ts';
import { checkWallet } from './check-wallet.ts';
import {
  CHAIN_START,
  dropJournalCheckpoint,
  dropWalletCheckpoint,
  findJournalCheckpoint,
  findWalletCheckpoint,
  saveJournalCheckpoint,
  saveWalletCheckpoint,
  type WalletCheckpoint,
} from './checkpoints.ts';
import { scopeOf } from './scope.ts';
import { inSnapshot } from './snapshot.ts';

export interface VerifyOptions {
  /** One merchant only; otherwise one after another. */
  merchant_id?: number | undefined;
  /** From the beginning, instead of from what a run before has found right. */
  full?: boolean;
  /** Ends the run early, with its reason thrown. */
  signal?: AbortSignal;
}

/** How many were looked at. */
export interface Checked {
  merchants: number;
  entries: number;
  journals: number;
  payments: number;
}

export interface Verification {
  checked: Checked;
  counts: Record<BreakKind, number>;
  /** The first of them, up to MAX_BREAKS. */
  breaks: Break[];
}

/** Who has so many breaks needs no longer list. */
const MAX_BREAKS = 1_000;
const WALLETS: readonly WalletKind[] = ['collection', 'payout'];
const PAYMENT_KINDS: readonly GatewayPaymentKind[] = ['collection', 'payout', 'reversal', 'return'];

/**
 * Proves the books: journals, wallets, payments, and the accounts that must come to what
 * they are made of. Each merchant is seen at one moment, so payments that move meanwhile
 * are no breaks; nothing is locked. What is right need not be read again by the next run.
 */
export async function verifyLedger(
  database: Database,
  {
    merchant_id: merchantId,
    full = false,
    signal = new AbortController().signal,
  }: VerifyOptions = {},
): Promise<Verification> {
  const checked: Checked = { merchants: 0, entries: 0, journals: 0, payments: 0 };
  const counts = Object.fromEntries(BREAK_KINDS.map((kind) => [kind, 0]));
  const breaks: Break[] = [];
  const merchants = merchantId === undefined ? await allMerchants(database) : [{ id: merchantId }];
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

function allMerchants(database: Database): Promise<{ id: number }[]> {
  return rows<{ id: number }>(database, 'SELECT id FROM merchants ORDER BY id');
}

interface WalletState {
  wallet: WalletKind;
  from: WalletCheckpoint;
  end: WalletCheckpoint;
  entries: number;
  isRight: boolean;
}

interface MerchantState {
  /** When the snapshot was taken, or a moment before. */
  at: Date;
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
  const { at } = (await firstRow<{ at: Date }>(trx, 'SELECT now() AS at'))!;
  const from = full ? null : await findJournalCheckpoint(trx, merchantId);
  const scope = scopeOf(merchantId, from, signal);
  const findings: Finding[] = [];
  const report = (finding: Finding) => void findings.push(finding);
  const journals = await checkJournals(trx, scope, report);
  let payments = 0;
  for (const kind of PAYMENT_KINDS) payments += await checkPayments(trx, kind, scope, report);
  const areJournalsRight = findings.length === 0;
  const wallets: WalletState[] = [];
  for (const wallet of WALLETS) {
    wallets.push(
      await verifyWallet(trx, { merchant_id: merchantId, wallet, full, signal }, findings),
    );
  }
  await checkInFlight(trx, merchantId, report);
  await checkSuspense(trx, merchantId, report);
  return { at, from, wallets, journals, payments, areJournalsRight, findings };
}

async function verifyWallet(
  trx: Transaction,
  which: { merchant_id: number; wallet: WalletKind; full: boolean; signal: AbortSignal },
  findings: Finding[],
): Promise<WalletState> {
  const { merchant_id, wallet, full, signal } = which;
  const from = full ? CHAIN_START : await findWalletCheckpoint(trx, merchant_id, wallet);
  const before = findings.length;
  const scope = { merchant_id, wallet, from, signal };
  const { end, entries } = await checkWallet(trx, scope, (finding) => findings.push(finding));
  return { wallet, from, end, entries, isRight: findings.length === before };
}

/**
 * What is right is not read again. A break that only a full run could see makes the runs
 * after it read everything too: it must not fall silent before it is mended.
 */
async function keepCheckpoints(
  database: Database,
  merchantId: number,
  { at, from, wallets, areJournalsRight }: MerchantState,
  full: boolean,
): Promise<void> {
  for (const { wallet, from: start, end, isRight } of wallets) {
    const step = { from: start, to: end, verifiedAt: at };
    if (isRight) await saveWalletCheckpoint(database, merchantId, wallet, step);
    else if (full) await dropWalletCheckpoint(database, merchantId, wallet);
  }
  if (areJournalsRight) await saveJournalCheckpoint(database, merchantId, { from, to: at });
  else if (full) await dropJournalCheckpoint(database, merchantId);
}
