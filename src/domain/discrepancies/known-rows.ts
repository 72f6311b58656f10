import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { isOfDay } from '../reconciliation/days-alone.ts';
import {
  isSameAccount,
  sameAccount,
  showsNoMore,
  showsNoMoreThan,
} from '../settlement/same-account.ts';
import type { AskedLine, Teller } from './asked-line.ts';
import { accountOfPayment, nameOfRow, type RowQuestion, rowIn } from './row-back.ts';

/* Statements list a row that brings money back again, and another form of a file shows less of it, or more. */

/** A row of which people were asked, as they were asked. */
interface KnownRow {
  name: string;
  row: AskedLine;
  /** The account that it shows. If it shows none, or hides digits: the account of the payment which is asked about. */
  account: string | null;
  told_by: string | null;
  /** The payment that it may bring back; null if nobody knows. */
  payment: PaymentRef | null;
  /** A payment explains it, or is asked about it, in its place. */
  is_over: boolean;
}

/** SQL: the known row has the receipt or the reference of the line. */
const NAMES_IT = `(known.receipt IN (:trans_id, :reference) OR known.reference IN (:trans_id, :reference))`;

/** SQL: one of the two has no receipt, and the other one no reference, at the same account and in the same minute. */
const IS_AS_IT = `(known.account IS NOT NULL AND CAST(:account AS text) IS NOT NULL
  AND CASE WHEN known.receipt IS NULL THEN CAST(:reference AS text) IS NULL
    ELSE known.reference IS NULL AND CAST(:trans_id AS text) IS NULL END
  AND abs(extract(epoch FROM CAST(e->'details'->>'completed_at' AS timestamptz) - CAST(:completed_at AS timestamptz)))
    < ${MINUTE_MS / SECOND_MS})`;

/**
 * Finds the rows of which people were asked that may be a line: of its receipt or reference, of its amount and, as far as
 * both show one, of its account. Two receipts are two rows.
 */
async function rowsNamedAs(
  executor: Database | Transaction,
  gateway: string,
  line: AskedLine,
  isNamed = NAMES_IT,
): Promise<KnownRow[]> {
  const found = await rows<Omit<KnownRow, 'row'> & RowQuestion>(
    executor,
    `SELECT d.trans_id AS name, known.account, e->>'told_by' AS told_by, e->'details' AS details,
       CAST(e->>'amount_cents' AS bigint) AS amount_cents,
       d.kind = 'money_back' AND d.resolution IS NOT DISTINCT FROM 'superseded' AS is_over,
       CASE WHEN d.payment_id IS NOT NULL THEN jsonb_build_object(
         'kind', d.payment_kind, 'merchant_id', d.merchant_id, 'id', d.payment_id) END AS payment
     FROM discrepancies d CROSS JOIN jsonb_array_elements(d.evidence) AS e
     CROSS JOIN LATERAL (SELECT e->'details'->>'account' AS shown, ${accountOfPayment('d')} AS own) of
     CROSS JOIN LATERAL (SELECT e->'details'->>'receipt' AS receipt, e->'details'->>'reference' AS reference,
       CASE WHEN ${showsNoMoreThan('of.shown', 'of.own')} THEN of.own ELSE of.shown END AS account) known
     WHERE (d.kind = 'money_back' OR d.kind = 'failure_after_success' AND e->'details' ? 'has_come_back')
       AND d.gateway = :gateway AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
       AND ${isNamed} AND coalesce(known.receipt = :trans_id, true)
       AND coalesce(${sameAccount('known.account', 'CAST(:account AS text)')}, true)
     ORDER BY e->>'told_by' = 'statement' DESC, d.id`,
    { ...line, gateway },
  );
  return found.map((each) => ({ ...each, row: rowIn(each) }));
}

/**
 * Returns a row as it was asked about before, so that another form of it changes nothing. It may be known under its name: a
 * form that shows no more than that, or another time, is the same row. Nobody agrees to such a file.
 */
export async function asKnown(
  trx: Transaction,
  { gateway, by, import_id }: Teller & { import_id: string },
  row: AskedLine,
): Promise<AskedLine> {
  const known = await rowsNamedAs(trx, gateway, row);
  const fitting = known
    .filter(({ name }) => name === nameOfRow(row))
    // A file proves nothing against the gateway.
    .filter(({ told_by }) => by === 'file' || told_by === by)
    .map((each) => each.row)
    .filter(
      ({ reference, account }) => reference === row.reference && showsNoMore(row.account, account),
    );
  const same =
    fitting.find((each) => isAtOnce(each, row)) ?? fitting.find((each) => isOfDay(each, row));
  if (same) return same;
  const other = inOtherForm(known, row);
  if (!other) return row;
  const { account } = other;
  const { completed_at, reference } = other.row;
  const isOne =
    !(await isListedTwice(trx, import_id, { ...row, account, completed_at })) &&
    !(await hasSeconds(trx, gateway, { ...row, reference }, completed_at)) &&
    !(await hasOtherReceipt(trx, gateway, { ...row, account, completed_at, reference }));
  return isOne ? other.row : row;
}

/** Tells whether a statement has listed a row without a receipt once more, with another receipt than the one of this row. */
async function hasOtherReceipt(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.reference = :reference AND l.has_come_back
       AND l.trans_id <> :trans_id AND l.amount_cents = :amount_cents
       AND abs(extract(epoch FROM l.completed_at - CAST(:completed_at AS timestamptz))) < ${MINUTE_MS / SECOND_MS}
       AND coalesce(${sameAccount('l.account', 'CAST(:account AS text)')}, true)
       -- It was a question of its own.
       AND NOT EXISTS (SELECT FROM discrepancies q WHERE q.kind IN ('money_back', 'failure_after_success')
         AND q.gateway = i.gateway AND q.trans_id = l.trans_id)`,
    { ...row, gateway },
  );
}

/**
 * Tells whether the earlier of two rows at different times of a minute is of a statement that shows seconds: then they are
 * two, though that one moved at the full minute.
 */
async function hasSeconds(
  trx: Transaction,
  gateway: string,
  { reference, amount_cents, completed_at: one }: AskedLine,
  other: Date,
): Promise<boolean> {
  if (one.getTime() === other.getTime()) return false;
  return hasRow(
    trx,
    `SELECT FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.reference = :reference AND l.has_come_back
       AND l.amount_cents = :amount_cents AND l.completed_at = :earlier
       AND EXISTS (SELECT FROM statement_lines s WHERE s.import_id = i.id AND date_part('second', s.completed_at) <> 0)`,
    { gateway, reference, amount_cents, earlier: one < other ? one : other },
  );
}

/** Tells whether two rows may be of one moment: some forms of a statement show no seconds. */
function isOfMinute({ completed_at: one }: AskedLine, { completed_at: other }: AskedLine): boolean {
  const [earlier, later] = [one.getTime(), other.getTime()].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return earlier === later || (earlier % MINUTE_MS === 0 && later - earlier < MINUTE_MS);
}

/** Some forms of a statement show no seconds. */
function isAtOnce(one: AskedLine, other: AskedLine): boolean {
  return Math.abs(one.completed_at.getTime() - other.completed_at.getTime()) < MINUTE_MS;
}

/**
 * Returns the row as it was asked about first, if another form of the statement had it without its receipt, or with less
 * of its account: minute and account are the same, and no second row was like it. Where a form shows no account, or the
 * day alone, a person must tell.
 */
function inOtherForm(known: readonly KnownRow[], row: AskedLine): KnownRow | null {
  const forms = known.filter(
    ({ row: { trans_id, account: shown, ...other }, account, is_over }) =>
      !is_over &&
      (trans_id === null || row.trans_id === null) &&
      // Two rows of one form are two rows.
      (trans_id !== row.trans_id || shown !== row.account) &&
      isOfMinute({ trans_id, account, ...other }, row) &&
      (row.account === null
        ? shown === null
        : account !== null && isSameAccount(account, row.account)),
  );
  const names = new Set(forms.map(({ name }) => name));
  return names.size === 1 && !names.has(nameOfRow(row)) ? forms[0]! : null;
}

/** Tells whether the statement has two rows like this one. */
async function isListedTwice(
  trx: Transaction,
  import_id: string,
  row: AskedLine,
): Promise<boolean> {
  const likes = await rows(
    trx,
    `SELECT FROM statement_lines l WHERE l.import_id = :import_id AND l.has_come_back
       AND coalesce(l.reference, l.trans_id) IN (:reference, :trans_id) AND l.amount_cents = :amount_cents
       AND abs(extract(epoch FROM l.completed_at - CAST(:completed_at AS timestamptz))) < ${MINUTE_MS / SECOND_MS}
       AND coalesce(${sameAccount('l.account', 'CAST(:account AS text)')}, true) LIMIT 2`,
    { ...row, import_id },
  );
  return likes.length > 1;
}

/**
 * Finds the rows of other names that may be this one in another form, by another clock or without a time, of its day, or
 * with a receipt in place of a reference.
 */
export async function rowsOfItsDay(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
): Promise<KnownRow[]> {
  const known = await rowsNamedAs(trx, gateway, row, `(${NAMES_IT} OR ${IS_AS_IT})`);
  const name = nameOfRow(row);
  return known.filter((each) => each.name !== name && !each.is_over && isOfDay(each.row, row));
}

/** Tells whether another form of a statement has a line of money in as a row that brings a payout back. */
export async function isRowBack(
  executor: Database | Transaction,
  gateway: string,
  line: Omit<AskedLine, 'completed_at'> & { completed_at: Date | null },
): Promise<boolean> {
  const { completed_at, ...others } = line;
  const known = await rowsNamedAs(executor, gateway, line as AskedLine);
  return known.some(
    ({ row }) => completed_at === null || isOfDay(row, { ...others, completed_at }),
  );
}
