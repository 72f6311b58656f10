import { v7 as uuidv7 } from 'uuid';
import { firstRow, type Transaction } from '../../connections/database.ts';

/** Wallets have a balance; the others are sums of their entries, so that no row is in every payment's way. */
export type Account =
  | 'wallet:collection'
  | 'wallet:payout'
  | 'gateway_float'
  | 'payouts_in_flight'
  | 'commission'
  | 'fees'
  | 'suspense'
  | 'bank'
  | 'losses';

/** How a merchant sees a line of its wallet. */
export interface TransactionLabel {
  type:
    | 'collection'
    | 'payout'
    | 'fee'
    | 'payout_refund'
    | 'fee_refund'
    | 'reversal'
    | 'topup'
    | 'transfer'
    | 'adjustment';
  ref_no: string | null;
  /** The other side: a phone or a bank account. */
  counterparty: string | null;
  description: string;
}

export interface JournalLine {
  account: Account;
  /** Signed; what a merchant gains is positive. Lines of zero are left out. */
  amount_cents: number;
  /** Only for wallets, which merchants see. */
  transaction?: TransactionLabel;
}

export interface Journal {
  merchant_id: number;
  /** What is booked, such as a collection, and what of it: together booked once, ever. */
  source_kind:
    | 'collection'
    | 'payout'
    | 'reversal'
    | 'return'
    | 'movement'
    | 'topup'
    | 'transfer'
    | 'adjustment';
  source_id: string;
  kind: string;
  lines: JournalLine[];
}

/**
 * Posts a journal and moves its wallets. The wallet rows are locked here, so this comes as
 * late in a transaction as it can. The database refuses what does not sum to zero.
 * @returns false when this journal was posted before; then nothing is changed.
 * @throws the violation of `payout_wallet_not_negative`
 */
export async function postJournal(trx: Transaction, journal: Journal): Promise<boolean> {
  const posted = await firstRow<{ count: number }>(
    trx,
    `WITH journal AS (
       INSERT INTO journals (merchant_id, id, source_kind, source_id, kind)
       VALUES (:merchant_id, :id, :source_kind, :source_id, :kind)
       ON CONFLICT (merchant_id, source_kind, source_id, kind) DO NOTHING
       RETURNING merchant_id, id
     ), ${ENTRIES_OF_JOURNAL}
     SELECT count(*) AS count FROM journal`,
    {
      merchant_id: journal.merchant_id,
      id: uuidv7(),
      source_kind: journal.source_kind,
      source_id: journal.source_id,
      kind: journal.kind,
      lines: linesBinding(journal.lines),
    },
  );
  return posted?.count === 1;
}

/** Posts a journal that nothing can have posted before. @throws Error when something has. */
export async function postNewJournal(trx: Transaction, journal: Journal): Promise<void> {
  if (await postJournal(trx, journal)) return;
  const { kind, source_kind, source_id } = journal;
  throw new Error(`The journal "${kind}" of ${source_kind} ${source_id} was posted before`);
}

/**
 * The CTEs that enter the lines of a CTE `journal` (merchant_id, id), given as `:lines`, and
 * move the wallets. A wallet's row is locked once, however many lines it has; its chain goes
 * through them in their order.
 */
export const ENTRIES_OF_JOURNAL = `line AS (
       SELECT l.*,
         count(*) OVER wallet_lines AS place,
         count(*) OVER (PARTITION BY account) AS places,
         sum(amount_cents) OVER (PARTITION BY account) AS total_cents,
         sum(amount_cents) OVER wallet_lines AS running_cents
       FROM jsonb_to_recordset(CAST(:lines AS jsonb))
         AS l (line smallint, account text, amount_cents bigint, transaction_id uuid, type text,
           ref_no text, counterparty text, description text)
       WINDOW wallet_lines AS (PARTITION BY account ORDER BY line)
     ), wallet AS (
       UPDATE wallets w
       SET balance_cents = w.balance_cents + line.total_cents, entry_no = w.entry_no + line.places
       FROM journal, line
       WHERE w.merchant_id = journal.merchant_id AND line.account = 'wallet:' || w.kind
         AND line.place = 1
       RETURNING w.kind, w.balance_cents, w.entry_no
     ), entered AS (
       INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
         balance_after_cents, transaction_id, type, ref_no, counterparty, description, created_at)
       SELECT journal.merchant_id, journal.id, line.line, line.account, line.amount_cents,
         wallet.entry_no - line.places + line.place,
         wallet.balance_cents - line.total_cents + line.running_cents,
         line.transaction_id, line.type, line.ref_no, line.counterparty, line.description,
         -- Read with the wallet locked, so that a wallet's entries are listed as they chain.
         clock_timestamp()
       FROM journal CROSS JOIN line LEFT JOIN wallet ON line.account = 'wallet:' || wallet.kind
     )`;

/** The lines of a journal as `:lines` of ENTRIES_OF_JOURNAL. */
export function linesBinding(lines: JournalLine[]): string {
  const entries = lines
    .filter(({ amount_cents: amountCents }) => amountCents !== 0)
    .map(({ account, amount_cents: amountCents, transaction }, index) => ({
      line: index + 1,
      account,
      amount_cents: amountCents,
      transaction_id: account.startsWith('wallet:') ? uuidv7() : null,
      type: transaction?.type ?? null,
      ref_no: transaction?.ref_no ?? null,
      counterparty: transaction?.counterparty ?? null,
      description: transaction?.description ?? null,
    }));
  return JSON.stringify(entries);
}
