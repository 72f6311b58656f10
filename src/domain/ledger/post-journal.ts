import { v7 as uuidv7 } from 'uuid';
import { firstRow, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';

export const WALLET_KINDS = ['collection', 'payout'] as const;
export type WalletKind = (typeof WALLET_KINDS)[number];

/**
 * Only wallets have a stored balance. The others are the sums of their entries: a row with the
 * balance would make all payments wait for each other.
 */
export type Account =
  | `wallet:${WalletKind}`
  | 'gateway_float'
  | 'payouts_in_flight'
  | 'commission'
  | 'fees'
  | 'suspense'
  | 'bank'
  | 'losses'
  | 'charges'
  | 'capital';

type SourceKind =
  | GatewayPaymentKind
  | 'movement'
  | 'topup'
  | 'transfer'
  | 'adjustment'
  | 'own_move'
  | 'charge_run';

/** Journals of the operator's own money have this merchant, which does not exist. */
export const OPERATOR = 0;

/** The words with which a merchant sees a line of its wallet. */
export interface TransactionLabel {
  type:
    | Exclude<SourceKind, 'return' | 'movement' | 'own_move' | 'charge_run'>
    | 'fee'
    | 'payout_refund'
    | 'fee_refund';
  ref_no: string | null;
  /** The phone or the bank account of the other side. */
  counterparty: string | null;
  description: string;
}

export interface JournalLine {
  account: Account;
  /** Signed: a merchant's gain is positive. Lines of zero are left out. */
  amount_cents: number;
  /** Only for wallets, because merchants do not see other accounts. */
  transaction?: TransactionLabel;
}

export interface Journal {
  merchant_id: number;
  /** The merchant, the source and `kind` identify a journal, which is posted only once. */
  source_kind: SourceKind;
  source_id: string;
  kind: string;
  lines: JournalLine[];
}

/**
 * Posts a journal and changes the balances of its wallets. This locks the wallet rows, so call
 * it as late in a transaction as possible. The database refuses lines that do not sum to zero.
 * @returns false, and changes nothing, when this journal was posted before.
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
    { ...journal, id: uuidv7(), lines: linesBinding(journal.lines) },
  );
  return posted?.count === 1;
}

/**
 * Returns the CTEs that post the journal `kind` of the payment in the CTE `moved`, as a part of a
 * longer statement: with `:journal_id`, and the lines as `linesBinding` writes them in `:lines`.
 */
export function journalOfMoved(sourceKind: SourceKind, kind: string): string {
  return `journal AS (
      INSERT INTO journals (merchant_id, id, source_kind, source_id, kind)
      SELECT merchant_id, :journal_id, '${sourceKind}', id, '${kind}' FROM moved
      RETURNING merchant_id, id
    ), ${ENTRIES_OF_JOURNAL}`;
}

/** Posts a journal that nothing can have posted before. @throws Error when something has. */
export async function postNewJournal(trx: Transaction, journal: Journal): Promise<void> {
  if (await postJournal(trx, journal)) return;
  const { kind, source_kind, source_id } = journal;
  throw new Error(`The journal "${kind}" of ${source_kind} ${source_id} was posted before`);
}

/**
 * SQL: the CTEs that enter `:lines` for the journal in the CTE `journal` (merchant_id, id) and
 * change the wallets. A wallet with several lines is updated once. Its chain takes the lines in
 * their order.
 */
const ENTRIES_OF_JOURNAL = `line AS (
       SELECT * FROM jsonb_to_recordset(CAST(:lines AS jsonb))
         AS l (line smallint, account text, amount_cents bigint, transaction_id uuid, type text,
           ref_no text, counterparty text, description text, place bigint, places bigint,
           total_cents bigint, running_cents bigint)
     ), wallet AS (
       UPDATE wallets w
       SET balance_cents = w.balance_cents + line.total_cents, entry_no = w.entry_no + line.places
       FROM journal, line
       WHERE w.merchant_id = journal.merchant_id AND line.account = 'wallet:' || w.kind
         AND line.place = 1
       RETURNING w.kind, w.balance_cents, w.entry_no
     ), entered AS (
       INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
         balance_after_cents, transaction_id, type, ref_no, counterparty, description)
       SELECT journal.merchant_id, journal.id, line.line, line.account, line.amount_cents,
         wallet.entry_no - line.places + line.place,
         wallet.balance_cents - line.total_cents + line.running_cents,
         line.transaction_id, line.type, line.ref_no, line.counterparty, line.description
       FROM journal CROSS JOIN line LEFT JOIN wallet ON line.account = 'wallet:' || wallet.kind
     )`;

/**
 * Returns the lines of a journal as a statement takes them in `:lines`: each with its place among
 * the lines of its account, and with their sum up to it and in all.
 */
export function linesBinding(lines: JournalLine[]): string {
  const entries = lines.filter(({ amount_cents }) => amount_cents !== 0);
  const binding = entries.map(({ account, amount_cents, transaction }, index) => {
    const same = entries.filter((other) => other.account === account);
    const upToThis = entries.slice(0, index + 1).filter((other) => other.account === account);
    return {
      line: index + 1,
      account,
      amount_cents,
      transaction_id: account.startsWith('wallet:') ? uuidv7() : null,
      ...transaction,
      place: upToThis.length,
      places: same.length,
      total_cents: sumOf(same),
      running_cents: sumOf(upToThis),
    };
  });
  return JSON.stringify(binding);
}

function sumOf(lines: JournalLine[]): number {
  return lines.reduce((sum, { amount_cents }) => sum + amount_cents, 0);
}
