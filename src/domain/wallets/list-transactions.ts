import { type Database, rows, type Transaction } from '../../connections/database.ts';
import type { WalletKind } from '../ledger/post-journal.ts';
import { type KeysetPage, type Page, type PageRequest, type Position, readPage } from '../lists.ts';
import { type Period, periodConditions } from '../period.ts';

/** An entry of a merchant's wallet, as the merchant sees it. */
export interface WalletTransaction {
  transaction_id: string;
  account: string;
  type: string;
  amount_cents: number;
  balance_after_cents: number;
  ref_no: string | null;
  counterparty: string | null;
  trans_id: string | null;
  description: string | null;
  created_at: Date;
}

export interface TransactionFilter extends Period {
  wallet?: WalletKind | undefined;
  type?: string | undefined;
  ref_no?: string | undefined;
  phone?: string | undefined;
}

/** Reads a page of a merchant's wallet transactions, newest first. */
export async function listTransactions(
  database: Database,
  merchantId: number,
  filter: TransactionFilter,
  page: PageRequest,
): Promise<Page<WalletTransaction>> {
  const where = ['merchant_id = :merchant_id', 'transaction_id IS NOT NULL'];
  if (filter.wallet) where.push('account = :account');
  if (filter.type) where.push('type = :type');
  if (filter.ref_no) where.push('ref_no = :ref_no');
  if (filter.phone) where.push('counterparty = :phone');
  where.push(...periodConditions('created_at', filter));
  const source = {
    columns: TRANSACTION_COLUMNS,
    table: 'entries',
    createdAt: 'created_at',
    id: 'transaction_id',
    where,
    bindings: { ...filter, merchant_id: merchantId, account: `wallet:${filter.wallet}` },
  };
  return readPage(database, source, page);
}

/** A transaction in a list that is read from place to place. */
export interface PlacedTransaction extends WalletTransaction {
  /** Microseconds since 1970, the precision of Postgres. */
  created_us: number;
}

/** Lists a merchant's wallet transactions, newest first, without counting them. */
export function latestTransactions(
  database: Database,
  merchantId: number,
  { after, limit }: KeysetPage<Position>,
): Promise<PlacedTransaction[]> {
  const before = `AND (created_at, transaction_id) < (timestamptz 'epoch'
    + CAST(:after_us AS double precision) * interval '1 microsecond', CAST(:after_id AS uuid))`;
  return rows<PlacedTransaction>(
    database,
    `SELECT ${TRANSACTION_COLUMNS},
       CAST(extract(epoch FROM listed.created_at) * 1000000 AS bigint) AS created_us
     FROM (
       SELECT * FROM entries
       WHERE merchant_id = :merchant_id AND transaction_id IS NOT NULL ${after ? before : ''}
       ORDER BY created_at DESC, transaction_id DESC LIMIT :limit
     ) AS listed
     ORDER BY listed.created_at DESC, listed.transaction_id DESC`,
    { merchant_id: merchantId, after_us: after?.createdUs, after_id: after?.id, limit },
  );
}

const TRANS_ID_OF_SOURCE = ['collection', 'payout', 'reversal'].map(
  (kind) => `WHEN '${kind}' THEN (SELECT p.trans_id FROM ${kind}s p
      WHERE p.merchant_id = j.merchant_id AND p.id = j.source_id)`,
);

/** SQL: the receipt, from the payment. It may become known after the entry, which never changes. */
const TRANS_ID = `(
  SELECT CASE j.source_kind ${TRANS_ID_OF_SOURCE.join(' ')} END
  FROM journals j WHERE j.merchant_id = listed.merchant_id AND j.id = listed.journal_id
)`;

/** SQL: the columns of WalletTransaction, from entries named `listed`. */
export const TRANSACTION_COLUMNS = `listed.transaction_id, listed.account, listed.type, listed.amount_cents,
  listed.balance_after_cents, listed.ref_no, listed.counterparty, ${TRANS_ID} AS trans_id, listed.description,
  listed.created_at`;

/** Reads the balances of a merchant's wallets in cents. A missing wallet is left out. */
export async function walletBalances(
  database: Database | Transaction,
  merchantId: number,
): Promise<Partial<Record<WalletKind, number>>> {
  const wallets = await rows<{ kind: string; balance_cents: number }>(
    database,
    'SELECT kind, balance_cents FROM wallets WHERE merchant_id = :merchant_id',
    { merchant_id: merchantId },
  );
  return Object.fromEntries(wallets.map((wallet) => [wallet.kind, wallet.balance_cents]));
}
