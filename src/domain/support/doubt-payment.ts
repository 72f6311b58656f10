import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import type { Audited } from '../audit/audit.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, lockPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { casesOf } from './discrepancy-cases.ts';

/*
 * A person's word may be wrong, as when support read the wrong row of a portal. Another person can
 * doubt it. Then it is a discrepancy, and `undo` takes it back with everything that follows.
 */

/** Tells whether the last word about a payment's end is support's, and has not been taken back. */
export function isSupportsWord(payment: AnyPayment, lastCause: unknown): boolean {
  return !isOpen(payment) && payment.undone_at === null && lastCause === 'support';
}

/**
 * Puts the end of a payment that support has told on the support list.
 * @param doubt says who doubts it, and why
 * @throws OperatorRefusal when the end is not support's word, or is doubted already
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
  const last = await firstRow<{ cause: string }>(
    database,
    `SELECT cause FROM payment_history
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND happened_at >= :created_at
     ORDER BY happened_at DESC LIMIT 1`,
    payment,
  );
  if (!isSupportsWord(payment, last?.cause)) {
    throw new OperatorRefusal('Support has not told how it ended, so there is no word to doubt');
  }
  const known = await casesOf(database, refOf(payment));
  const isDoubted = known.some((each) => each.kind === 'doubted' && each.resolved_at === null);
  if (isDoubted) throw new OperatorRefusal('It is doubted already: decide its discrepancy');
}
