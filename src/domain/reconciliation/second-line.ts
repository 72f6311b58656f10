import { firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import { findPayment, type PaymentRef } from '../payments/payment-store.ts';
import { type FoundAdoption, findAdoption, nameAdoption } from '../settlement/adoptions.ts';
import { isSameAccount, sameAccount } from '../settlement/same-account.ts';
import { latestMomentOf } from './days-alone.ts';
import { IS_OF_TWO, type LineResult, type StatementRef, type StoredLine } from './statement.ts';

export async function isSecondLine(
  trx: Transaction,
  statement: StatementRef,
  ref: PaymentRef,
  line: StoredLine,
): Promise<boolean> {
  if (await wasAtOtherTime(trx, ref, line)) return true;
  const payment = await findPayment(trx, ref);
  if (!payment) return false;
  const repeats = await repeatsReference(
    trx,
    statement,
    [payment.reference, payment.external_ref],
    line,
    // After a restore a line of this reference may have come before its payment came again.
    LISTED,
  );
  // An undone movement had no line of the payment.
  return repeats.in_own === true || (repeats.in_others === true && payment.undone_at === null);
}

/**
 * Tells whether the payment has moved at another time already, and that movement has no receipt: another
 * statement may have listed the first of two. If the line has a receipt, only a statement's time is compared.
 */
async function wasAtOtherTime(
  trx: Transaction,
  payment: PaymentRef,
  { trans_id, completed_at }: StoredLine,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM movements
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND trans_id IS NULL AND booked NOT IN ('undoing', 'undone') AND told_by <> 'support'
       AND (CAST(:trans_id AS text) IS NULL OR told_by IN ('statement', 'file'))
       AND abs(extract(epoch FROM completed_at - CAST(:completed_at AS timestamptz))) > :apart`,
    { ...payment, trans_id, completed_at, apart: SAME_TIME_MS / SECOND_MS },
  );
}

/**
 * Looks for an earlier line of this statement, or a line of another one that was about a payment, which has one of
 * these references: then it may have been paid twice. Of a payment two receipts tell that by themselves. A line
 * that another statement had at this time is that one again, unless one person alone stands for it. The reference of the
 * line may be another one, which a bank writes at rows of several accounts.
 */
async function repeatsReference(
  trx: Transaction,
  { import_id, gateway }: StatementRef,
  names: readonly (string | null)[],
  line: StoredLine,
  ofPayments: readonly LineResult[] = ['matched', 'settled'],
): Promise<Repeats> {
  const apart = 'abs(extract(epoch FROM l.completed_at - CAST(:completed_at AS timestamptz)))';
  const found = await firstRow<Repeats>(
    trx,
    `SELECT bool_or(is_own AND lacks_receipt
           AND ${apart} > CASE WHEN has_no_receipts THEN 0 ELSE :apart END)
         AND NOT bool_or(is_proof AND lacks_receipt AND ${apart} = 0) AS in_own,
       bool_or(NOT is_own AND lacks_receipt AND ${apart} > :apart)
         AND NOT bool_or(is_proof AND lacks_receipt AND ${apart} <= :apart) AS in_others,
       bool_or(l.trans_id <> :trans_id) AS by_receipt
     FROM statement_lines l JOIN statement_imports i ON i.id = l.import_id,
       LATERAL (SELECT l.import_id = :import_id AS is_own, l.import_id <> :import_id AND ${IS_OF_TWO} AS is_proof,
         l.trans_id IS NULL AND CAST(:trans_id AS text) IS NULL AS has_no_receipts,
         l.trans_id IS NULL OR CAST(:trans_id AS text) IS NULL AS lacks_receipt) of_line
     WHERE (l.reference = ANY (:names) OR l.reference = :reference AND CAST(:trans_id AS text) IS NULL
         AND coalesce(${sameAccount('l.account', 'CAST(:account AS text)')}, true))
       AND i.gateway = :gateway AND l.kind = :kind
       AND NOT l.undecided
       AND CASE WHEN is_own THEN l.line_no < :line_no
         ELSE l.result = ANY (:ofPayments) AND (l.result <> 'unknown' OR l.reference = :reference) END`,
    { ...line, import_id, gateway, names, ofPayments, apart: SAME_TIME_MS / SECOND_MS },
  );
  return found!;
}

/** Tells how earlier lines with the same reference differ. Null: no earlier line has the reference. */
interface Repeats {
  in_own: boolean | null;
  in_others: boolean | null;
  by_receipt: boolean | null;
}

/** The results of lines that tell of money. */
const LISTED: readonly LineResult[] = ['matched', 'settled', 'unknown'];

/** A gateway may list a movement by two clocks, or when it was asked for and when it was made. */
const SAME_TIME_MS = 5 * MINUTE_MS;

/**
 * Tells whether an earlier line has the reference of this one at another time: a payment that is not here was paid
 * twice.
 */
export async function isRepeated(
  trx: Transaction,
  statement: StatementRef,
  line: StoredLine,
): Promise<boolean> {
  if (line.reference === null) return false;
  const { in_own, in_others } = await repeatsReference(
    trx,
    statement,
    [line.reference],
    line,
    LISTED,
  );
  return in_own === true || in_others === true;
}

/**
 * Tells whether a line is about other money than an adoption under its name: its kind or account differ, or, where one of
 * the two has no receipt, its time.
 */
function isOtherMoney(adoption: FoundAdoption, line: StoredLine): boolean {
  const { account, completed_at, receipt, reference } = adoption;
  if (line.kind !== adoption.kind) return true;
  if (account !== null && line.account !== null && !isSameAccount(account, line.account)) {
    return true;
  }
  const hasReceipts = line.trans_id !== null && receipt !== reference;
  return !hasReceipts && completed_at !== null && !mayBeAtOnce(line, { completed_at });
}

/**
 * Tells whether an earlier line of the statement that is as this one, without a receipt, shows another account: they are
 * two, though another form shows one account for both, or hides digits.
 */
export function hasTwin(
  trx: Transaction,
  { import_id }: StatementRef,
  line: StoredLine,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT FROM statement_lines l WHERE l.import_id = :import_id AND l.line_no < :line_no AND l.kind = :kind
       AND l.reference = :reference AND l.trans_id IS NULL AND CAST(:trans_id AS text) IS NULL AND NOT l.undecided
       AND l.amount_cents = :amount_cents AND l.completed_at = :completed_at
       AND NOT ${sameAccount('l.account', 'CAST(:account AS text)')}`,
    { ...line, import_id },
  );
}

/** Tells whether two lines may be of one moment. A bank may write the day alone. */
function mayBeAtOnce(one: Moment, other: Moment): boolean {
  const [earlier, later] = one.completed_at < other.completed_at ? [one, other] : [other, one];
  return later.completed_at.getTime() - latestMomentOf(earlier).getTime() <= SAME_TIME_MS;
}

type Moment = Pick<StoredLine, 'completed_at'>;

/** Tells whether the movement was adopted, and no other line is about that money. The adoption learns its receipt. */
export async function isAdopted(
  trx: Transaction,
  statement: StatementRef & { isFromFile?: boolean },
  line: StoredLine,
): Promise<boolean> {
  const { gateway, isFromFile = false } = statement;
  const adoption = await findAdoption(trx, { ...line, gateway });
  if (!adoption || isOtherMoney(adoption, line)) return false;
  if (adoption.account !== line.account && (await hasTwin(trx, statement, line))) return false;
  if (line.reference === null) return true;
  const repeats = await repeatsReference(trx, statement, [line.reference], line);
  if (Object.values(repeats).includes(true)) return false;
  return isFromFile || nameAdoption(trx, adoption, line.trans_id);
}
