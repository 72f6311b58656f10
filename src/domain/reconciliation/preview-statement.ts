import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { CHARGE_DIFFERENCE } from '../gateway-accounts/charges.ts';
import { isCharge, SAME_ROW } from '../gateway-accounts/own-lines.ts';
import { isOpen } from '../payments/payment.ts';
import { accountOf, findPayment, type PaymentRef } from '../payments/payment-store.ts';
import { summariesOf } from '../payments/payment-summary.ts';
import { isSameAccount } from '../settlement/same-account.ts';
import { PROVES, REPEATS, WAS_ASKED } from './known-lines.ts';
import { subjectOf } from './line-subject.ts';
import { findUnlisted, type MissingMovement } from './missing-movements.ts';
import { listedUntil } from './reconcile.ts';
import { findRuledOut } from './rule-out.ts';
import {
  lastLineOf,
  momentsOf,
  OWN_ACCOUNT,
  PAYMENTS_OF_LINES,
  type Period,
  type StatementRef,
  type StatementScope,
  type StoredLine,
} from './statement.ts';

/** The lines that are no repetition and are looked at one by one. */
export const MAX_PREVIEWED_LINES = 200;
/** Movements that are missing are counted up to here. */
export const MAX_PREVIEWED_MISSING = 1_000;

/** The findings that a comparison of the statement would have. */
export interface StatementPreview {
  lines: number;
  outside: number;
  /** Lines that repeat a booked movement. */
  known: number;
  /** Lines among the first others that name one open payment with the same amount. */
  settles: number;
  /** Lines that name one payment that has ended, or another amount. */
  differs: number;
  /** Lines that name no payment, or several. */
  unexplained: number;
  /** Rows that bring money back, and of which nobody was asked as much. */
  come_back: number;
  /** Their amounts, in cents: they end no payment. */
  back_cents: number;
  /** The others that were not looked at. */
  unseen: number;
  /** Movements that are booked here and not in the statement, up to `MAX_PREVIEWED_MISSING`. */
  missing: number;
  /** Their amounts, in cents. */
  missing_cents: number;
  /** Overdue payments that fail, unless the gateway says otherwise. */
  ruled_out: number;
  /**
   * The most money that it can decide about, in cents: all news, all payments that it rules out, all
   * differences to booked charges, all that is missing, which support may undo, all rows that bring money back, and all
   * rows about the operator's own accounts that no statement has told.
   */
  stake_cents: number;
  /** The rows about the operator's own accounts that no statement has told, in cents: they settle nothing. */
  own_cents: number;
  /** The kinds of which it claims every movement, and of which it has no line. */
  empty_kinds: StoredLine['kind'][];
  /** The rows about the operator's own accounts, which settle nothing. */
  own_rows?: number;
}

/** A stored statement. */
export interface PreviewedStatement
  extends Pick<StatementScope, 'import_id' | 'gateway' | 'channel'> {
  period: Period;
  covers: readonly StoredLine['kind'][];
  complete_until: Date | null;
  settling_window_ms: number;
}

interface Scope extends StatementScope {
  settling_window_ms: number;
  /** The end of the period: `end` may be earlier. */
  period_end: Date;
  /** Whether payments can be ruled out. */
  rulesOut: boolean;
}

/**
 * Says what the comparison of a stored statement would find, and changes nothing. The comparison
 * decides anew: until then more may become known.
 */
export async function previewStatement(
  trx: Transaction,
  statement: PreviewedStatement,
): Promise<StatementPreview> {
  const scope = await scopeOf(trx, statement);
  const { news_cents, others, ...counted } = await readLines(trx, scope);
  const { lines, known } = counted;
  const found = { settles: 0, differs: 0, unexplained: 0 };
  for (const line of others) found[await effectOf(trx, scope, line)] += 1;
  const ruledOut = await summariesOf(trx, await ruledOutBy(trx, scope));
  const missing = await findMissing(trx, scope);
  const missing_cents = centsOf(missing);
  const own_cents = await newOwnCents(trx, statement);
  const back = await newRowsBack(trx, statement);
  return {
    ...counted,
    ...found,
    empty_kinds: await emptyKindsOf(trx, statement),
    come_back: back.count,
    back_cents: back.cents,
    unseen: lines - known - others.length,
    missing: missing.length,
    missing_cents,
    ruled_out: ruledOut.length,
    stake_cents: news_cents + centsOf(ruledOut) + missing_cents + own_cents + back.cents,
    own_cents,
  };
}

/**
 * Sums the draft's rows about own accounts that are not known, whatever their direction. They would explain
 * money that the books lack.
 */
async function newOwnCents(
  trx: Transaction,
  { import_id }: Pick<PreviewedStatement, 'import_id'>,
): Promise<number> {
  const found = await firstRow<{ cents: number }>(
    trx,
    `SELECT CAST(coalesce(sum(abs(l."amountCents")), 0) AS bigint) AS cents
     FROM statement_imports i CROSS JOIN LATERAL jsonb_to_recordset(i.own)
       AS l (reference text, "amountCents" bigint, "toldAt" timestamptz)
     WHERE i.id = CAST(:import_id AS uuid) AND NOT ${isCharge('i.gateway')} AND NOT EXISTS (
       SELECT FROM own_lines o WHERE o.account = i.gateway || '${OWN_ACCOUNT}'
         AND o.reference = l.reference AND o.amount_cents = l."amountCents"
         AND o.told_at > l."toldAt" - ${SAME_ROW} AND o.told_at < l."toldAt" + ${SAME_ROW})`,
    { import_id },
  );
  return found!.cents;
}

/** Counts the rows that bring money back, and of which nobody was asked as much. */
async function newRowsBack(
  trx: Transaction,
  { import_id, gateway }: Pick<PreviewedStatement, 'import_id' | 'gateway'>,
): Promise<{ count: number; cents: number }> {
  const found = await firstRow<{ count: number; cents: number }>(
    trx,
    `SELECT count(*) AS count, CAST(coalesce(sum(l.amount_cents), 0) AS bigint) AS cents
     FROM statement_lines l WHERE l.import_id = :import_id AND l.has_come_back
       AND NOT ${WAS_ASKED}`,
    { import_id, gateway },
  );
  return found!;
}

function centsOf(moved: readonly { amount_cents: number }[]): number {
  return moved.reduce((sum, { amount_cents }) => sum + amount_cents, 0);
}

async function emptyKindsOf(
  trx: Transaction,
  { import_id, covers }: PreviewedStatement,
): Promise<StoredLine['kind'][]> {
  const listed = await rows<{ kind: string }>(
    trx,
    `SELECT DISTINCT kind FROM statement_lines
     WHERE import_id = :import_id AND NOT undecided`,
    { import_id },
  );
  return covers.filter((each) => !listed.some(({ kind }) => kind === each));
}

async function scopeOf(
  trx: Transaction,
  { period, covers, complete_until, ...statement }: PreviewedStatement,
): Promise<Scope> {
  const { start, end: period_end } = momentsOf(period);
  const found = await firstRow<{ newest: Date | null; now: Date }>(
    trx,
    `SELECT max(completed_at) AS newest, now() AS now FROM statement_lines
     WHERE import_id = :import_id`,
    statement,
  );
  const newest = found!.newest ?? start;
  const end = listedUntil({ complete_until, newest, end: period_end, now: found!.now });
  const kinds = covers.flatMap((kind) => PAYMENTS_OF_LINES[kind]);
  return { ...statement, kinds, start, end, period_end, rulesOut: complete_until !== null };
}

type Counts = Pick<StatementPreview, 'lines' | 'outside' | 'known'> & { news_cents: number };

/** One statement reads this number of lines, so that a long file ends within the time limit. */
const READ_AT_ONCE = 25_000;

/** Counts the lines, and reads the first ones that repeat no movement. */
async function readLines(
  trx: Transaction,
  scope: Scope,
): Promise<Counts & { others: StoredLine[] }> {
  const sums: Counts = { lines: 0, outside: 0, known: 0, news_cents: 0 };
  const others: StoredLine[] = [];
  const { line_no: last } = await lastLineOf(trx, scope);
  for (let after = 0; after < last; after += READ_AT_ONCE) {
    const batch = { ...scope, after, up_to: after + READ_AT_ONCE };
    const counts = (await firstRow<Counts>(trx, COUNT, batch))!;
    for (const name of Object.keys(sums) as (keyof Counts)[]) sums[name] += counts[name];
    const limit = Math.min(counts.lines - counts.known, MAX_PREVIEWED_LINES - others.length);
    if (limit > 0) others.push(...(await rows<StoredLine>(trx, OTHERS, { ...batch, limit })));
  }
  return { ...sums, others };
}

/** Keeps the preview with its statement. */
export async function keepPreview(
  trx: Transaction,
  id: string,
  preview: StatementPreview,
): Promise<void> {
  await rows(
    trx,
    'UPDATE statement_imports SET preview = CAST(:preview AS jsonb) WHERE id = CAST(:id AS uuid)',
    { id, preview: JSON.stringify(preview) },
  );
}

/** SQL: the line `l` is in the batch. */
const IN_BATCH = `l.import_id = :import_id AND NOT l.undecided
    AND l.line_no > :after AND l.line_no <= :up_to`;

const OTHERS = `SELECT * FROM statement_lines l WHERE ${IN_BATCH} AND NOT ${REPEATS}
  ORDER BY line_no LIMIT :limit`;

/** OFFSET keeps the planner from looking for each repetition twice. */
const COUNT = `SELECT count(*) AS lines,
    count(*) FILTER (WHERE completed_at < :start OR completed_at >= :period_end) AS outside,
    count(*) FILTER (WHERE repeats) AS known,
    CAST(coalesce(sum(amount_cents) FILTER (WHERE NOT repeats OR proves), 0)
      + coalesce(sum(charge_cents), 0) AS bigint) AS news_cents
  FROM (SELECT l.completed_at, l.amount_cents, ${REPEATS} AS repeats, ${PROVES} AS proves,
      ${CHARGE_DIFFERENCE} AS charge_cents
    FROM statement_lines l WHERE ${IN_BATCH} OFFSET 0) AS counted`;

async function effectOf(
  trx: Transaction,
  statement: StatementRef,
  line: StoredLine,
): Promise<'settles' | 'differs' | 'unexplained'> {
  const { payment: ref } = await subjectOf(trx, statement, line);
  if (!ref) return 'unexplained';
  const payment = await findPayment(trx, ref);
  const isNews = payment && isOpen(payment) && payment.amount_cents === line.amount_cents;
  const isOurs =
    isNews && (line.account === null || isSameAccount(line.account, accountOf(payment)));
  return isOurs ? 'settles' : 'differs';
}

async function findMissing(trx: Transaction, scope: Scope): Promise<MissingMovement[]> {
  const found: MissingMovement[] = [];
  for (const kind of scope.kinds) {
    found.push(
      ...(await findUnlisted(trx, kind, scope, { limit: MAX_PREVIEWED_MISSING - found.length })),
    );
  }
  return found;
}

async function ruledOutBy(trx: Transaction, scope: Scope): Promise<PaymentRef[]> {
  if (!scope.rulesOut) return [];
  const found: PaymentRef[] = [];
  for (const kind of scope.kinds) found.push(...(await findRuledOut(trx, kind, scope)));
  return found;
}
