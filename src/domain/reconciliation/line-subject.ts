import { hasRow, type Transaction } from '../../connections/database.ts';
import { isRowBack } from '../discrepancies/known-rows.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, findPayment, type PaymentRef } from '../payments/payment-store.ts';
import {
  type Movement,
  mismatchOf,
  movementsOf,
  repeatedMovement,
} from '../settlement/movements.ts';
import { hasUnsureReceipt } from '../settlement/sources.ts';
import { receiptOf } from '../text.ts';
import { candidatesOf, paymentsLike, whenMoved } from './candidates.ts';
import { isOfDay, latestMomentOf } from './days-alone.ts';
import { hasRival, isDecided } from './rivals.ts';
import { PAYMENTS_OF_LINES, type StatementRef, type StoredLine } from './statement.ts';

/** Finds the payment that a line is about, and all that fit it. */
export async function subjectOf(trx: Transaction, statement: StatementRef, line: StoredLine) {
  const { gateway } = statement;
  const named = await namedBy(trx, gateway, line);
  const fitting =
    named.length === 0 && namesNobody(line) ? await paymentsLike(trx, gateway, line) : [];
  const alike = likely(fitting);
  const isDoubtful = alike.some(({ is_doubtful, has_receipt }) => is_doubtful || has_receipt);
  const isCertain =
    !isDoubtful &&
    !(alike[0] && (await hasRival(trx, statement, line, alike[0]))) &&
    !(alike[0] && (await isDecided(trx, gateway, line))) &&
    !(alike[0] && (await isRowBack(trx, gateway, line))) &&
    !(alike[0] && (await isBookedOtherWay(trx, gateway, line)));
  const claimant = await claimantOf(trx, gateway, line, named);
  const only = claimant ?? (isCertain ? theOnlyOne(line, [...named, ...alike]) : null);
  const isOfOther =
    only !== null && ((await namesOther(trx, only, line)) || (await isTooEarly(trx, only, line)));
  return { candidates: [...named, ...fitting], payment: isOfOther ? null : only };
}

/**
 * Finds the payments that a line names. Where a bank writes one receipt at many rows, a file calls them all references:
 * such a one names the payment that has as much money of the same account and day under it. A customer may type the
 * receipt of an earlier payment.
 */
async function namedBy(trx: Transaction, gateway: string, line: StoredLine): Promise<PaymentRef[]> {
  const named = await candidatesOf(trx, gateway, line);
  if (named.length > 0 || line.trans_id !== null) return named;
  const receipt = { ...line, reference: null, trans_id: receiptOf(line.reference!) };
  for (const owner of await candidatesOf(trx, gateway, receipt)) {
    const { mismatch, booked } = await compared(trx, owner, receipt);
    const isOfTime = !booked?.completed_at || isOfDay(line, { completed_at: booked.completed_at });
    if (mismatch === null && isOfTime) return [owner];
  }
  return [];
}

/**
 * Leaves out the prompts that the gateway has failed, if another one was paid, or is of the same merchant: a customer
 * cancels one prompt and pays the next. Another merchant's prompt that is still open proves nothing: the customer may
 * have paid the first merchant by hand.
 */
function likely(alike: Awaited<ReturnType<typeof paymentsLike>>) {
  const others = alike.filter(({ is_unpaid }) => !is_unpaid);
  const isOfOne = new Set(alike.map(({ merchant_id }) => merchant_id)).size === 1;
  return others.some(({ is_completed }) => is_completed || isOfOne) ? others : alike;
}

/** Tells whether the money of a line is in the books in the other direction: a file may be of the other kind. */
function isBookedOtherWay(
  trx: Transaction,
  gateway: string,
  { kind, trans_id, amount_cents }: StoredLine,
): Promise<boolean> {
  const booked = `SELECT 1 FROM movements WHERE gateway = :gateway AND trans_id = :trans_id
      AND amount_cents = :amount_cents AND (payment_kind = 'collection') <> (:kind = 'collection') AND booked <> 'undone'`;
  return hasRow(trx, booked, { gateway, kind, trans_id, amount_cents });
}

/**
 * Tells whether the money of a line moved before the payment that has its receipt was asked for, and the gateway has not
 * told that receipt for the payment. A regular customer pays the same each day, and a person may have read the row of
 * another day.
 */
async function isTooEarly(trx: Transaction, ref: PaymentRef, line: StoredLine): Promise<boolean> {
  const payment = line.reference === null ? await findPayment(trx, ref) : undefined;
  if (!payment) return false;
  if (latestMomentOf(line) >= whenMoved(payment).since) return false;
  return hasNothingSure(await movementsOf(trx, payment), line);
}

/**
 * Tells whether a line names somebody else than the payment that has its receipt, and the gateway has not told that
 * receipt for the payment. A person may have read the wrong row.
 */
async function namesOther(trx: Transaction, ref: PaymentRef, line: StoredLine): Promise<boolean> {
  const payment = line.reference === null ? undefined : await findPayment(trx, ref);
  if (!payment || isNamedBy(payment, line)) return false;
  return hasNothingSure(await movementsOf(trx, payment), line);
}

export function isNamedBy({ reference, external_ref }: AnyPayment, line: StoredLine): boolean {
  return line.reference === external_ref || line.reference === reference;
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
  if (line.account === null) return false;
  return (await compared(trx, ref, line)).mismatch === 'other_account';
}

/** Compares a line with the money of a payment: returns the money, if it is booked, and in what the two differ. */
async function compared(trx: Transaction, ref: PaymentRef, line: StoredLine) {
  const payment = await findPayment(trx, ref);
  if (!payment) throw new Error(`${ref.kind} ${ref.id} is gone`);
  const news = newsOf(line);
  const booked = repeatedMovement(await movementsOf(trx, payment), news);
  return { booked, mismatch: mismatchOf(payment, news, booked) };
}

/**
 * Tells whether nothing of the gateway's joins a line to the payment but its likeness: the line names none, and
 * the gateway has not told its receipt for the payment. Support may have read the wrong row.
 */
export async function isByLikeness(
  trx: Transaction,
  payment: AnyPayment,
  line: StoredLine,
): Promise<boolean> {
  if (line.reference !== null) return false;
  return hasNothingSure(await movementsOf(trx, payment), line);
}

/** Tells whether the gateway has not told the receipt of a line for the payment that has these movements. */
function hasNothingSure(movements: Movement[], line: StoredLine): boolean {
  const known = movements.filter(({ booked }) => booked !== 'undone');
  // Money that has gone back has its receipt still.
  const movement =
    repeatedMovement(known, newsOf(line)) ??
    movements.find(({ trans_id }) => trans_id !== null && trans_id === line.trans_id);
  return !movement?.trans_id || hasUnsureReceipt(movement);
}

/** Returns a line with the receipt of a payment's money, if that is what it calls its reference. */
export async function withOwnReceipt(
  trx: Transaction,
  payment: AnyPayment,
  line: StoredLine,
): Promise<StoredLine> {
  if (line.trans_id !== null || line.reference === null) return line;
  const receipt = receiptOf(line.reference);
  const booked = await movementsOf(trx, payment);
  const isOwn = booked.some(({ trans_id }) => trans_id === receipt);
  return isOwn ? { ...line, trans_id: receipt } : line;
}

export function newsOf(line: StoredLine): Succeeded {
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
