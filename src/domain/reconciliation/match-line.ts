import { validate as isUuid } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../time.ts';
import { isOfUnknownPayment, openUnknown } from '../discrepancies/unknown-movement.ts';
import type { GatewayPaymentKind, ParserOf, Succeeded } from '../gateway-results.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
} from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { findAdoption } from '../settlement/adoptions.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import {
  directionOf,
  HAS_UNSURE_RECEIPT,
  hasUnsureReceipt,
  mismatchOf,
  movementsOf,
  repeatedMovement,
  sourceOf,
} from '../settlement/movements.ts';
import { isMasked, sameAccount } from '../settlement/same-account.ts';
import { settle } from '../settlement/settle.ts';
import {
  type LineResult,
  PAYMENTS_OF_LINES,
  type StatementRef,
  type StoredLine,
} from './statement.ts';

/** Bounds what a person has to look at. */
const MAX_CANDIDATES = 10;

/**
 * Finds the payments that a line may be about: by our reference, by the gateway's reference, and
 * by a receipt that is booked and not undone. It tries all three, because they may disagree.
 */
export async function candidatesOf(
  trx: Database | Transaction,
  gateway: string,
  { kind, reference, trans_id }: Pick<StoredLine, 'kind' | 'reference' | 'trans_id'>,
): Promise<PaymentRef[]> {
  const lookups = PAYMENTS_OF_LINES[kind].flatMap((each) => [
    paymentsOf(each, 'reference = CAST(:uuid AS uuid)'),
    paymentsOf(each, 'external_ref = :reference'),
  ]);
  return rows<PaymentRef>(
    trx,
    `${lookups.join(' UNION ')}
     UNION SELECT payment_kind, merchant_id, payment_id FROM movements
       WHERE trans_id = :trans_id AND gateway = :gateway AND booked <> 'undone'
         AND ${isSameDirection('payment_kind', ':kind')}
     ORDER BY merchant_id, id LIMIT :limit`,
    {
      gateway,
      kind,
      reference,
      trans_id,
      limit: MAX_CANDIDATES,
      uuid: reference !== null && isUuid(reference) ? reference : null,
    },
  );
}

/** The customer pays within this time of the request. Clocks may differ by as much. */
export const PAID_WITHIN = { before_minutes: 30, after_minutes: 5 };

/** A payment that a line may be about, though neither names the other. */
type Alike = PaymentRef & { is_doubtful: boolean; is_completed: boolean; has_receipt: boolean };

/** SQL: the payment `p` has a movement `m` with a receipt. */
const HAS_MOVED = `SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.trans_id IS NOT NULL
         AND m.booked <> 'undone'`;

/**
 * Finds the payments that a line without a reference may be about: of the same account and amount,
 * not long before, and without a sure receipt so far. A failed one is among them, and is marked: its customer
 * may have paid by hand afterwards, for something else, or somebody may have undone it wrongly. A payment is marked
 * too if another amount of it has moved, if a question about it names another receipt, or if its receipt may belong
 * to somebody else. A gateway that keeps no reference of ours tells no more when both its acknowledgement and its
 * callback were lost.
 * @param gateway is null for all gateways: a file may have been brought for the wrong account
 */
export async function paymentsLike(
  trx: Database | Transaction,
  gateway: string | null,
  {
    kind,
    account,
    amount_cents,
    trans_id,
    completed_at,
  }: Pick<StoredLine, 'kind' | 'account' | 'amount_cents' | 'trans_id' | 'completed_at'>,
): Promise<Alike[]> {
  const column = `p.${ACCOUNT_COLUMNS[kind]}`;
  const isOfAccount =
    account !== null && isMasked(account)
      ? sameAccount(column, 'CAST(:account AS text)')
      : `${column} = :account`;
  return rows<Alike>(
    trx,
    `SELECT '${kind}' AS kind, p.merchant_id, p.id,
       p.status = 'failed' OR EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked <> 'undone'
         AND m.amount_cents <> p.amount_cents)
       OR EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
         AND d.payment_kind = :kind AND d.payment_id = p.id AND d.resolved_at IS NULL
         AND d.trans_id <> :trans_id) AS is_doubtful,
       p.status = 'completed' AS is_completed,
       EXISTS (${HAS_MOVED}) AS has_receipt
     FROM merchants JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = merchants.id
       AND ${isOfAccount}
       AND ${latestOf(kind)} > CAST(:completed_at AS timestamptz) - :before_minutes * interval '1 minute'
       AND p.created_at < CAST(:completed_at AS timestamptz) + :after_minutes * interval '1 minute'
     WHERE p.gateway = coalesce(:gateway, p.gateway) AND p.amount_cents = :amount_cents
       AND NOT EXISTS (${HAS_MOVED} AND NOT ${HAS_UNSURE_RECEIPT})
       -- Somebody has decided that this receipt is not the payment's.
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked = 'undone'
         AND upper(m.trans_id) = upper(:trans_id))
       AND EXISTS (SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id
         AND a.payment_kind = :kind AND a.payment_id = p.id)
     ORDER BY p.merchant_id, p.id LIMIT :limit`,
    {
      ...PAID_WITHIN,
      ...{ gateway, kind, account, amount_cents, trans_id, completed_at },
      limit: MAX_CANDIDATES,
    },
  );
}

/** SQL: from when on the money of a payment `p` is late. A customer pays soon or never, a payout may take long. */
function latestOf(kind: string): string {
  return kind === 'collection' ? 'p.created_at' : 'p.deadline_at';
}

function paymentsOf(kind: GatewayPaymentKind, condition: string): string {
  return `SELECT '${kind}' AS kind, merchant_id, id FROM ${STEP_TABLES[kind].table}
    WHERE gateway = :gateway AND ${condition}`;
}

/**
 * Returns a condition on the kinds of two movements: both came in, or both went out. A gateway may
 * use a receipt once in each direction.
 */
export function isSameDirection(kind: string, other: string): string {
  return `(${kind} = 'collection') = (${other} = 'collection')`;
}

/**
 * Counts money that a comparison ends, in the transaction that ends it.
 * @param what names the line, the payment or the charges: a transaction that is repeated counts once
 * @throws OperatorRefusal when that is more than was agreed
 */
export type Spend = (what: string, cents: number) => void;

/** A statement whose lines are applied. */
export interface MatchedStatement extends StatementRef {
  parserOf: ParserOf;
  /** Counts the money that its lines end. */
  spend?: Spend;
  /** Somebody has brought it as a file. */
  isFromFile?: boolean;
  /** The time of its newest line. */
  newest?: Date | null;
}

/**
 * Matches one line of a statement. All lines of all statements take turns, because a line may repeat the one before
 * it, or be a second payment.
 * @returns the payment, if the line was news about it
 */
export async function matchLine(
  database: Database,
  statement: MatchedStatement,
  line: StoredLine,
): Promise<PaymentRef | null> {
  const { import_id } = statement;
  return inTransaction(database, async (trx) => {
    await lockUntilCommit(trx, 'matching statements');
    let { payment, candidates } = await subjectOf(trx, statement, line);
    // A callback may have changed what fits before the payment was locked.
    if (payment && (await lockPayment(trx, payment))) {
      ({ payment, candidates } = await subjectOf(trx, statement, line));
    }
    const isSecond = payment !== null && (await isSecondLine(trx, statement, payment, line));
    const result =
      payment && !isSecond
        ? await applyLine(trx, payment, line, statement)
        : await reportUnexplained(trx, statement, line, candidates);
    await rows(
      trx,
      `UPDATE statement_lines SET result = :result
       WHERE import_id = :import_id AND line_no = :line_no`,
      { import_id, line_no: line.line_no, result },
    );
    if (result === 'settled') statement.spend?.(`line ${line.line_no}`, line.amount_cents);
    return result === 'settled' ? payment : null;
  });
}

/** Finds the payment that a line is about, and all that fit it. */
async function subjectOf(trx: Transaction, statement: StatementRef, line: StoredLine) {
  const { gateway } = statement;
  const named = await candidatesOf(trx, gateway, line);
  const alike =
    named.length === 0 && namesNobody(line) ? await paymentsLike(trx, gateway, line) : [];
  const candidates = [...named, ...alike];
  const isDoubtful = alike.some(({ is_doubtful, has_receipt }) => is_doubtful || has_receipt);
  const isCertain =
    !isDoubtful &&
    !(alike[0] && (await hasRival(trx, statement, line, alike[0]))) &&
    !(alike[0] && (await isDecided(trx, gateway, line)));
  const claimant = await claimantOf(trx, gateway, line, named);
  return { candidates, payment: claimant ?? (isCertain ? theOnlyOne(line, candidates) : null) };
}

/**
 * Tells whether the money of a line belongs to no payment that it fits: somebody has dismissed it, or a callback has
 * named another payment for it.
 */
function isDecided(
  trx: Transaction,
  gateway: string,
  { kind, trans_id }: StoredLine,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE kind IN ('unknown_movement', 'unknown_payment') AND gateway = :gateway
       AND trans_id = :trans_id
       AND (resolution = 'dismissed' OR kind = 'unknown_payment' AND resolved_at IS NULL)
       AND ${isSameDirection("coalesce(payment_kind, details->>'kind')", ':kind')}`,
    { gateway, kind, trans_id },
  );
}

/** SQL: a discrepancy about money that names no payment. It is the condition of an index. */
const UNNAMED = "kind = 'unknown_movement' AND details->>'reference' IS NULL";

/** Money that names no payment. */
type UnnamedMoney = Pick<StoredLine, 'kind' | 'trans_id' | 'amount_cents'>;

/**
 * Tells whether other money that belongs to nobody fits a payment just as well: another line of the statement,
 * or money that was on the support list, whatever was decided about it.
 * @param statement.import_id is null if the money is of no statement that is compared now
 * @param undecided.without are receipts of money that somebody decides about now. What was decided before does not
 * count then. Without it, all counts.
 */
export function hasRival(
  trx: Database | Transaction,
  statement: Pick<StatementRef, 'gateway'> & { import_id: string | null },
  money: UnnamedMoney & { line_no?: number },
  payment: PaymentRef,
  undecided: { without: readonly string[] } | null = null,
): Promise<boolean> {
  const direction = directionOf(payment.kind);
  return hasRow(
    trx,
    `SELECT 1 FROM ${STEP_TABLES[payment.kind].table} p, (
         SELECT l.trans_id, l.account, l.completed_at FROM statement_lines l
           WHERE l.import_id = :import_id AND l.line_no <> :line_no
             AND NOT l.undecided AND l.kind = :kind AND l.reference IS NULL
             AND l.amount_cents = :amount_cents
         UNION ALL
         SELECT trans_id, details->>'account', CAST(details->>'completed_at' AS timestamptz)
           FROM discrepancies
           WHERE ${UNNAMED} AND gateway = :gateway AND amount_cents = :amount_cents
             AND details->>'kind' = :kind AND (NOT :is_undecided OR resolved_at IS NULL)) AS other
     WHERE p.merchant_id = :merchant_id AND p.id = :id
       AND other.trans_id IS DISTINCT FROM :trans_id
       AND upper(other.trans_id) <> ALL (:without)
       AND ${sameAccount(`p.${ACCOUNT_COLUMNS[payment.kind]}`, 'other.account')}
       AND other.completed_at
         < ${latestOf(payment.kind)} + :before_minutes * interval '1 minute'
       AND other.completed_at > p.created_at - :after_minutes * interval '1 minute'
       AND NOT EXISTS (SELECT FROM receipts r WHERE r.gateway = :gateway AND r.direction = :direction
         AND upper(r.receipt) = upper(other.trans_id))`,
    {
      ...{ line_no: 0, ...statement, ...money, ...PAID_WITHIN, ...payment },
      ...{ kind: money.kind, direction, is_undecided: undecided !== null },
      without: (undecided?.without ?? []).map((receipt) => receipt.toUpperCase()),
    },
  );
}

async function isSecondLine(
  trx: Transaction,
  statement: StatementRef,
  ref: PaymentRef,
  line: StoredLine,
): Promise<boolean> {
  if (await wasAtOtherTime(trx, ref, line)) return true;
  const payment = await findPayment(trx, ref);
  if (!payment) return false;
  const { reference, external_ref } = payment;
  const names = [reference, reference.toUpperCase(), external_ref, line.reference];
  const repeats = await repeatsReference(
    trx,
    statement,
    names.filter((name) => name !== null),
    line,
  );
  // What was undone was no line of the payment.
  return repeats.in_own === true || (repeats.in_others === true && payment.undone_at === null);
}

/** Tells whether the movement was adopted, and no other line is about that money. */
async function isAdopted(
  trx: Transaction,
  statement: StatementRef,
  line: StoredLine,
): Promise<boolean> {
  const { gateway } = statement;
  if (!(await findAdoption(trx, { ...line, gateway }))) return false;
  if (line.reference === null) return true;
  return !Object.values(await repeatsReference(trx, statement, [line.reference], line)).includes(
    true,
  );
}

/**
 * Looks for an earlier line of this statement, or a line of another one that was about a payment, which has one of
 * these references: then it may have been paid twice. Of a payment two receipts tell that by themselves. A line
 * that another statement had at this time is that one again.
 */
async function repeatsReference(
  trx: Transaction,
  { import_id, gateway }: StatementRef,
  names: readonly string[],
  line: StoredLine,
): Promise<Repeats> {
  const apart = 'abs(extract(epoch FROM l.completed_at - CAST(:completed_at AS timestamptz)))';
  const found = await firstRow<Repeats>(
    trx,
    `SELECT bool_or(is_own AND lacks_receipt
           AND ${apart} > CASE WHEN has_no_receipts THEN 0 ELSE :apart END)
         AND NOT bool_or(NOT is_own AND lacks_receipt AND ${apart} = 0) AS in_own,
       bool_or(NOT is_own AND lacks_receipt AND ${apart} > :apart)
         AND NOT bool_or(NOT is_own AND lacks_receipt AND ${apart} <= :apart) AS in_others,
       bool_or(l.trans_id <> :trans_id) AS by_receipt
     FROM statement_lines l JOIN statement_imports i ON i.id = l.import_id,
       LATERAL (SELECT l.import_id = :import_id AS is_own,
         l.trans_id IS NULL AND CAST(:trans_id AS text) IS NULL AS has_no_receipts,
         l.trans_id IS NULL OR CAST(:trans_id AS text) IS NULL AS lacks_receipt) of_line
     WHERE l.reference = ANY (:names) AND i.gateway = :gateway AND l.kind = :kind
       AND NOT l.undecided
       AND CASE WHEN is_own THEN l.line_no < :line_no ELSE l.result IN ('matched', 'settled') END`,
    { ...line, import_id, gateway, names, apart: SAME_TIME_MS / SECOND_MS },
  );
  return found!;
}

/** Where the reference of a line was before: at another time, or with another receipt. Null: nowhere. */
interface Repeats {
  in_own: boolean | null;
  in_others: boolean | null;
  by_receipt: boolean | null;
}

/** A gateway may list a movement by two clocks, or when it was asked for and when it was made. */
const SAME_TIME_MS = 5 * MINUTE_MS;

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

/** Tells whether only phone, amount and time tell which collection a line is about. */
function namesNobody({ kind, reference, account }: StoredLine): boolean {
  return kind === 'collection' && reference === null && account !== null;
}

/** Returns the payment that a line is about. If several fit, nobody knows. */
function theOnlyOne(line: StoredLine, [first, ...others]: PaymentRef[]): PaymentRef | null {
  if (!first || others.length > 0) return null;
  return PAYMENTS_OF_LINES[line.kind].includes(first.kind) ? first : null;
}

/**
 * Returns the payment that a line is about while another payment has its receipt: the one that the
 * line names, or the only one of the line's account if that is not the owner's. A person may have given
 * the receipt to the wrong payment. The line then asks support about both.
 */
async function claimantOf(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
  [owner, other, ...more]: PaymentRef[],
): Promise<PaymentRef | null> {
  if (!owner || more.length > 0 || line.trans_id === null) return null;
  if (other) {
    const owners = await candidatesOf(trx, gateway, { ...line, reference: null });
    if (owners.length > 1) return null;
    return theOnlyOne(line, await candidatesOf(trx, gateway, { ...line, trans_id: null }));
  }
  if (line.reference !== null || !(await isOfOtherAccount(trx, owner, line))) return null;
  const alike = await paymentsLike(trx, gateway, line);
  return theOnlyOne(
    line,
    alike.filter(({ has_receipt }) => !has_receipt),
  );
}

async function isOfOtherAccount(
  trx: Transaction,
  ref: PaymentRef,
  line: StoredLine,
): Promise<boolean> {
  const payment = await findPayment(trx, ref);
  if (!payment || line.account === null) return false;
  const news = newsOf(line);
  const booked = repeatedMovement(await movementsOf(trx, payment), news);
  return mismatchOf(payment, news, booked) === 'other_account';
}

async function applyLine(
  trx: Transaction,
  ref: PaymentRef,
  line: StoredLine,
  { parserOf, isFromFile = false, newest = null }: MatchedStatement,
): Promise<LineResult> {
  const payment = await lockPayment(trx, ref);
  if (!payment) throw new Error(`${ref.kind} ${ref.id} is gone`);
  const news = newsOf(line);
  const source = {
    cause: 'statement',
    isFromFile,
    isByLikeness: await isByLikeness(trx, payment, line),
  };
  const settlement = await settle(trx, payment, news, {
    ...source,
    parserOf,
    // The same file again has nothing newer.
    told: { by: sourceOf({ ...news, ...source, heardAt: null }), at: newest },
  });
  await fillTime(trx, payment, news, isFromFile);
  if (settlement === 'repeat') return 'matched';
  return settlement === 'discrepancy' ? 'contradicts' : 'settled';
}

/**
 * Tells whether nothing of the gateway's joins a line to the payment but its likeness: the line names none, and
 * the gateway has not told its receipt for the payment. Support may have read the wrong row.
 */
async function isByLikeness(
  trx: Transaction,
  payment: AnyPayment,
  line: StoredLine,
): Promise<boolean> {
  if (line.reference !== null) return false;
  const known = (await movementsOf(trx, payment)).filter(({ booked }) => booked !== 'undone');
  const movement = repeatedMovement(known, newsOf(line));
  return !movement?.trans_id || hasUnsureReceipt(movement);
}

function newsOf(line: StoredLine): Succeeded {
  return {
    outcome: 'succeeded',
    transId: line.trans_id,
    externalRef: null,
    amountCents: line.amount_cents,
    account: line.account,
    description: 'In the statement of the gateway',
    completedAt: line.completed_at,
  };
}

/**
 * Fills the time of a movement. Without a time it would seem missing in other statements. A file could hide
 * money from the gateway's statements by a time, so it dates no word of support, and others only nearly.
 */
async function fillTime(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
  isFromFile: boolean,
): Promise<void> {
  const movement = repeatedMovement(await movementsOf(trx, payment), news);
  if (!movement || movement.completed_at !== null) return;
  await rows(
    trx,
    `UPDATE movements m SET completed_at = CAST(:completed_at AS timestamptz)
     WHERE merchant_id = :merchant_id AND id = :id AND completed_at IS NULL
       AND (NOT :is_from_file OR ${mayBeDated('CAST(:completed_at AS timestamptz)')})`,
    {
      merchant_id: payment.merchant_id,
      id: movement.id,
      completed_at: news.completedAt,
      is_from_file: isFromFile,
    },
  );
}

/** A file is believed to date money that was learned within this time. */
const DATED_WITHIN_MS = DAY_MS;

/** SQL: a file may date the movement `m` with this time. */
export function mayBeDated(time: string): string {
  return `m.told_by <> 'support' AND abs(extract(epoch FROM ${time} - m.learned_at)) <= ${DATED_WITHIN_MS / SECOND_MS}`;
}

/**
 * Reports a line that is not booked: no payment explains it, or several fit. If a callback has
 * reported the movement, it is on the support list already. Money that was adopted is booked.
 */
async function reportUnexplained(
  trx: Transaction,
  statement: StatementRef,
  line: StoredLine,
  candidates: PaymentRef[],
): Promise<LineResult> {
  const { gateway } = statement;
  const isContrary = candidates.length > 0;
  if (!isContrary && (await isAdopted(trx, statement, line))) return 'matched';
  if (!isContrary && (await isOfUnknownPayment(trx, { ...line, gateway }))) return 'unknown';
  await openUnknown(trx, gateway, line, candidates.map(nameOf));
  return isContrary ? 'contradicts' : 'unknown';
}
