import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';
import { endMissing, endWrongRows } from '../discrepancies/supersede.ts';
import { isOfUnknownPayment, openUnknown } from '../discrepancies/unknown-movement.ts';
import type { ParserOf, Succeeded } from '../gateway-results.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
} from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { explainRenamed } from '../settlement/explain-unknown.ts';
import { mismatchOf, movementsOf, repeatedMovement } from '../settlement/movements.ts';
import { ownerOfReceipt } from '../settlement/receipts.ts';
import { returnedLike } from '../settlement/returned-like.ts';
import { settle } from '../settlement/settle.ts';
import { sourceOf } from '../settlement/sources.ts';
import { isToldOtherwise } from '../support/compare-receipt.ts';
import { isByLikeness, isNamedBy, newsOf, subjectOf, withOwnReceipt } from './line-subject.ts';
import { hasTwin, isAdopted, isRepeated, isSecondLine } from './second-line.ts';
import type { LineResult, StatementRef, StoredLine } from './statement.ts';

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
    const isRefused =
      payment !== null &&
      ((await isSecondLine(trx, statement, payment, line)) ||
        (await isDenied(trx, statement, payment, line)));
    const result =
      payment && !isRefused
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

/**
 * Tells whether the line of a file gives a payment a receipt of which the gateway itself has told otherwise: another
 * account or amount, or another payment. The file may have a wrong row.
 */
async function isDenied(
  trx: Transaction,
  { isFromFile = false, parserOf }: MatchedStatement,
  ref: PaymentRef,
  { trans_id, amount_cents, account }: StoredLine,
): Promise<boolean> {
  const payment = isFromFile ? await findPayment(trx, ref) : undefined;
  if (!payment) return false;
  // It repeats what is known, or asks about both payments.
  if (trans_id === null || (await ownerOfReceipt(trx, payment, trans_id))) return false;
  return isToldOtherwise(trx, payment, { trans_id, amount_cents, account }, parserOf);
}

async function applyLine(
  trx: Transaction,
  ref: PaymentRef,
  line: StoredLine,
  { import_id: importId, parserOf, isFromFile = false, newest = null }: MatchedStatement,
): Promise<LineResult> {
  const payment = await lockPayment(trx, ref);
  if (!payment) throw new Error(`${ref.kind} ${ref.id} is gone`);
  const told = await withOwnReceipt(trx, payment, line);
  const news = newsOf(told);
  const source = {
    cause: 'statement',
    isFromFile,
    isByLikeness: await isByLikeness(trx, payment, told),
  };
  const settlement = await settle(trx, payment, news, {
    ...source,
    importId,
    parserOf,
    // The same file again has nothing newer.
    told: { by: sourceOf({ ...news, ...source, heardAt: null }), at: newest },
  });
  await noteListed(trx, payment, news, isFromFile);
  const isAdoptedToo = await explainForeignName(trx, payment, line);
  if (settlement === 'repeat') return isAdoptedToo ? 'contradicts' : 'matched';
  return settlement === 'discrepancy' ? 'contradicts' : 'settled';
}

/**
 * A line that has the receipt of a payment may name it by another reference: the gateway's own, of which nobody has
 * told us. Its money may have been listed under that reference alone.
 * @returns whether somebody has adopted it
 */
async function explainForeignName(
  trx: Transaction,
  payment: AnyPayment,
  line: StoredLine,
): Promise<boolean> {
  const { trans_id, amount_cents, reference: external_ref } = line;
  if (trans_id === null || external_ref === null || isNamedBy(payment, line)) return false;
  return explainRenamed(trx, payment, { trans_id, amount_cents, external_ref, isOwn: false });
}

/**
 * Notes that a statement lists money of a payment. It may list the money later than an earlier statement should have.
 * A file answers what other files lack. The gateway's own statement answers all. Without a time the money would
 * seem missing in other statements. A file could hide money from them by a time.
 */
async function noteListed(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
  isFromFile: boolean,
): Promise<void> {
  const booked = (await movementsOf(trx, payment)).filter((each) => each.booked !== 'undone');
  const movement = repeatedMovement(booked, news);
  if (!movement) return;
  const isAsBooked = mismatchOf(payment, news, movement) === null;
  if (isFromFile) {
    if (isAsBooked) await endMissing(trx, payment, movement.trans_id, 'files');
    return;
  }
  await endMissing(trx, payment, movement.trans_id);
  if (isAsBooked) await endWrongRows(trx, payment, movement.trans_id);
  if (movement.completed_at !== null) return;
  await rows(
    trx,
    `UPDATE movements SET completed_at = :completed_at
     WHERE merchant_id = :merchant_id AND id = :id AND completed_at IS NULL`,
    {
      merchant_id: payment.merchant_id,
      id: movement.id,
      completed_at: news.completedAt,
    },
  );
}

/**
 * Reports a line that is not booked: no payment explains it, or several fit. If a callback has
 * reported the movement, it is on the support list already. Money that was adopted is booked.
 */
async function reportUnexplained(
  trx: Transaction,
  statement: MatchedStatement,
  line: StoredLine,
  candidates: PaymentRef[],
): Promise<LineResult> {
  const { gateway } = statement;
  const isContrary = candidates.length > 0;
  // A failed prompt may fit money that was adopted.
  const namesNone = !isContrary || line.reference === null;
  if (namesNone && (await isAdopted(trx, statement, line))) return 'matched';
  if (
    !isContrary &&
    (await isOfUnknownPayment(trx, { ...line, gateway })) &&
    !(await isRepeated(trx, statement, line))
  ) {
    return 'unknown';
  }
  const isLate = !isContrary && line.kind === 'collection';
  const returned = isLate ? await returnedLike(trx, { ...line, gateway }) : [];
  const by = statement.isFromFile ? 'file' : 'statement';
  const names = [...candidates, ...returned].map(nameOf);
  await openUnknown(trx, { gateway, by }, line, names, await hasTwin(trx, statement, line));
  return isContrary ? 'contradicts' : 'unknown';
}
