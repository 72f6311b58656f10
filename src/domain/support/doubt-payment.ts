import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import type { Audited } from '../audit/audit.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { isAskedAsDismissed } from '../discrepancies/dismissed-money.ts';
import { OperatorRefusal } from '../errors.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, lockPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { clearedByWord } from '../settlement/movements.ts';
import { IS_UNSURE } from '../settlement/sources.ts';
import { casesOf, type Discrepancy } from './discrepancy-cases.ts';

/*
 * A person's word may be wrong, as when support read the wrong row of a portal. Another person can
 * doubt it, and the line of a wrong file, or one that names no payment, which has completed one. Then it is a
 * discrepancy, and `undo` takes it back with everything that follows.
 */

/** The sources of a payment's end. */
interface EndWord {
  /** The cause of its last status. A file has the cause of a statement. */
  lastCause: unknown;
  /** The gateway itself has not told of the money that completed it, or not its receipt. */
  isUnsure: boolean;
  /** Somebody has dismissed what contradicts it, or its money before it came. */
  isUpheld: boolean;
}

/** A dismissal of these says that a payment is completed, although a later word says that it is not. */
const UPHELD: readonly DiscrepancyKind[] = ['failure_after_success', 'missing_at_gateway'];

/** Tells whether somebody has said by a decision that a payment is completed. */
export function isUpholding({
  kind,
  resolution,
}: Pick<Discrepancy, 'kind' | 'resolution'>): boolean {
  return resolution === 'dismissed' && UPHELD.includes(kind);
}

function isEndOfPeople({ lastCause, isUnsure, isUpheld }: EndWord): boolean {
  return lastCause === 'support' || isUnsure || isUpheld;
}

/**
 * Tells whether the gateway has not said the last word about a payment's end itself, or people have said that
 * other money of it has come back or is lost, and it has not been taken back.
 * @param word.isCleared tells whether support says that money which went out has come back, or is lost
 */
export function isDoubtable(
  payment: AnyPayment,
  { isCleared, ...end }: EndWord & { isCleared: boolean },
): boolean {
  if (isOpen(payment) || payment.undone_at !== null) return false;
  return isCleared || isEndOfPeople(end);
}

/**
 * Puts the end of a payment that the gateway itself has not told on the support list.
 * @param doubt says who doubts it, and why
 * @throws OperatorRefusal when the end is the gateway's word, or is doubted already
 */
export function doubtPayment(
  audited: Audited,
  ref: PaymentRef,
  doubt: { actor: string; reason: string },
): Promise<void> {
  return audited(async (trx) => {
    const payment = await lockPayment(trx, ref);
    if (!payment) throw new OperatorRefusal(`There is no ${ref.kind} ${ref.id}`);
    await refuseDoubt(trx, payment);
    const { kind, merchant_id, id, status, trans_id, amount_cents } = payment;
    await openDiscrepancy(trx, {
      kind: 'doubted',
      payment: refOf(payment),
      trans_id,
      amount_cents,
      details: {
        status,
        doubted_by: doubt.actor,
        description: doubt.reason,
        doubted_at: new Date().toISOString(),
      },
    });
    return {
      value: undefined,
      audit: { merchant_id, subject: `${kind} ${id}`, details: { status, trans_id } },
    };
  });
}

/** @throws OperatorRefusal when the end of a payment cannot be doubted */
export async function refuseDoubt(
  database: Database | Transaction,
  payment: AnyPayment,
): Promise<void> {
  const end = await endWordOf(database, payment);
  const isCleared = (await clearedByWord(database, payment)).length > 0;
  if (!isDoubtable(payment, { ...end, isCleared })) {
    throw new OperatorRefusal(
      payment.undone_at === null
        ? 'The gateway itself has told how it ended, so there is no word to doubt'
        : 'People have undone it, and a payment fails once: if that was wrong, book the difference by hand',
    );
  }
  const known = await casesOf(database, refOf(payment));
  const isDoubted = known.some((each) => each.kind === 'doubted' && each.resolved_at === null);
  if (isDoubted) throw new OperatorRefusal('It is doubted already: decide its discrepancy');
}

/** Tells whether `undo` of the doubt is about the whole end of a payment: somebody has upheld it. */
export async function isUpheld(
  database: Database | Transaction,
  payment: AnyPayment,
): Promise<boolean> {
  return (await endWordOf(database, payment)).isUpheld;
}

/**
 * Tells whether `undo` of the doubt is about other money of a completed payment alone, which came back or is lost.
 * @param receipt is the receipt of the doubt, if the gateway has raised it
 */
export async function isAboutCleared(
  database: Database | Transaction,
  payment: AnyPayment,
  receipt: string | null,
): Promise<boolean> {
  if (payment.status !== 'completed') return false;
  const cleared = await clearedByWord(database, payment);
  if (receipt !== null && cleared.some(({ trans_id }) => trans_id === receipt)) return true;
  const end = await endWordOf(database, payment);
  return cleared.length > 0 && !isEndOfPeople({ ...end, isUpheld: false });
}

async function endWordOf(database: Database | Transaction, payment: AnyPayment): Promise<EndWord> {
  const last = await firstRow<{ cause: string; is_unsure: boolean }>(
    database,
    `SELECT cause, EXISTS (SELECT FROM movements m WHERE m.merchant_id = :merchant_id
         AND m.payment_kind = :kind AND m.payment_id = :id AND m.booked = 'settled'
         AND ${IS_UNSURE}) AS is_unsure
     FROM payment_history
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND happened_at >= :created_at
     ORDER BY happened_at DESC LIMIT 1`,
    payment,
  );
  const isUpheld = payment.status === 'completed' && (await isInDoubt(database, payment));
  return { lastCause: last?.cause, isUnsure: last?.is_unsure ?? false, isUpheld };
}

/** Tells whether a decision of people contradicts that a payment is completed, or keeps it so. */
async function isInDoubt(database: Database | Transaction, payment: AnyPayment): Promise<boolean> {
  const cases = await casesOf(database, refOf(payment));
  return cases.some(isUpholding) || isAskedAsDismissed(database, payment.gateway, nameOf(payment));
}
