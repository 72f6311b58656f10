import {
  type Database,
  firstRow,
  inSnapshot,
  rows,
  type Transaction,
} from '../../../connections/database.ts';
import { PAYMENT_KINDS } from '../../payments/payment-summary.ts';
import { WALLET_KINDS } from '../post-journal.ts';
import { checkAccounts, checkJournals } from './check-accounts.ts';
import { checkPayments } from './check-payments.ts';
import { checkWallet } from './check-wallet.ts';
import {
  deleteJournalCheckpoint,
  deleteWalletCheckpoint,
  findJournalCheckpoint,
  saveJournalCheckpoint,
  saveWalletCheckpoint,
} from './checkpoints.ts';
import {
  BREAK_KINDS,
  type Break,
  type BreakKind,
  type CheckOptions,
  type Finding,
  scopeOf,
} from './checks.ts';

export interface VerifyOptions extends Partial<CheckOptions> {
  /** Checks only this merchant. */
  merchant_id?: number | undefined;
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
    const state = await inSnapshot(database, (trx) => verifyMerchant(trx, id, { full, signal }));
    await keepCheckpoints(database, state, full);
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

type VerifiedMerchant = Awaited<ReturnType<typeof verifyMerchant>>;

async function verifyMerchant(trx: Transaction, merchant_id: number, options: CheckOptions) {
  // The time of the snapshot, or a moment before.
  const now = await firstRow<{ verified_at: Date }>(trx, 'SELECT now() AS verified_at');
  const from = options.full ? null : await findJournalCheckpoint(trx, merchant_id);
  const scope = scopeOf(merchant_id, from, options.signal);
  const findings: Finding[] = [];
  const journals = await checkJournals(trx, scope, findings);
  let payments = 0;
  for (const kind of PAYMENT_KINDS) payments += await checkPayments(trx, kind, scope, findings);
  const areJournalsRight = findings.length === 0;
  const wallets = [];
  for (const wallet of WALLET_KINDS) {
    wallets.push(await checkWallet(trx, { merchant_id, wallet }, options, findings));
  }
  await checkAccounts(trx, scope, findings);
  return { ...now!, merchant_id, from, wallets, journals, payments, areJournalsRight, findings };
}

/**
 * Saves checkpoints for what is right. A break that only a full run can see deletes the
 * checkpoint, so that later runs report it too until it is repaired.
 */
async function keepCheckpoints(
  database: Database,
  merchant: VerifiedMerchant,
  full: boolean,
): Promise<void> {
  for (const wallet of merchant.wallets) {
    if (wallet.isRight) await saveWalletCheckpoint(database, wallet, merchant.verified_at);
    else if (full) await deleteWalletCheckpoint(database, wallet);
  }
  if (merchant.areJournalsRight) await saveJournalCheckpoint(database, merchant);
  else if (full) await deleteJournalCheckpoint(database, merchant.merchant_id);
}
