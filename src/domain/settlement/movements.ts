import { v7 as uuidv7 } from 'uuid';
import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf } from '../payments/payment-store.ts';

/** Money that a gateway says it moved for a payment. Each is booked once, when learned. */
export interface Movement {
  id: string;
  trans_id: string | null;
  amount_cents: number;
  account: string | null;
  completed_at: Date | null;
  /** The payment's own; waiting for a decision; or decided about. */
  booked: 'settled' | 'suspense' | 'cleared';
}

/** The movements that are known of a payment; the payment must be locked. */
export async function movementsOf(trx: Transaction, payment: AnyPayment): Promise<Movement[]> {
  return rows<Movement>(
    trx,
    `SELECT id, trans_id, amount_cents, account, completed_at, booked FROM movements
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
     ORDER BY learned_at, id`,
    { merchant_id: payment.merchant_id, kind: payment.kind, id: payment.id },
  );
}

/**
 * Whether a gateway has told of a movement of the payment after `moment`; the payment must
 * be locked. What was only support's word proves nothing against the gateway's.
 */
export async function learnedSince(
  trx: Transaction,
  payment: AnyPayment,
  moment: Date,
): Promise<boolean> {
  const row = await firstRow(
    trx,
    `SELECT 1 FROM movements m WHERE merchant_id = :merchant_id AND payment_kind = :kind
       AND payment_id = :id AND learned_at > :moment
       AND NOT EXISTS (SELECT FROM payment_history h WHERE h.merchant_id = m.merchant_id
         AND h.payment_kind = m.payment_kind AND h.payment_id = m.payment_id
         AND h.cause = 'support' AND h.to_status = 'completed')`,
    { merchant_id: payment.merchant_id, kind: payment.kind, id: payment.id, moment },
  );
  return row !== undefined;
}

/** One movement of a merchant. @throws Error when there is none: whoever asks has its id from a row */
export async function findMovement(
  trx: Transaction,
  merchantId: number,
  id: string,
): Promise<Movement> {
  const movement = await firstRow<Movement>(
    trx,
    `SELECT id, trans_id, amount_cents, account, completed_at, booked FROM movements
     WHERE merchant_id = :merchant_id AND id = :id`,
    { merchant_id: merchantId, id },
  );
  if (!movement) throw new Error(`Movement ${id} is gone`);
  return movement;
}

/** Notes what became of a movement that was in suspense. */
export async function rebookMovement(
  trx: Transaction,
  merchantId: number,
  id: string,
  booked: 'settled' | 'cleared',
): Promise<void> {
  await rows(
    trx,
    `UPDATE movements SET booked = :booked
     WHERE merchant_id = :merchant_id AND id = :id AND booked = 'suspense'`,
    { merchant_id: merchantId, id, booked },
  );
}

/**
 * The known movement that this news repeats: the one with the same receipt, or, when one
 * side has no receipt, the one that may be it.
 */
export function repeatedMovement(known: Movement[], news: Succeeded): Movement | undefined {
  if (news.transId === null) return known[0];
  return (
    known.find(({ trans_id }) => trans_id === news.transId) ??
    known.find(({ trans_id }) => trans_id === null)
  );
}

/** In what a movement is another than the one that was asked for, if it is. */
export function mismatchOf(
  payment: AnyPayment,
  news: Succeeded,
): 'other_account' | 'other_amount' | null {
  if (news.account !== null && news.account !== accountOf(payment)) return 'other_account';
  const isOther = news.amountCents !== null && news.amountCents !== payment.amount_cents;
  return isOther ? 'other_amount' : null;
}

/** In what a repeat contradicts the movement that it repeats, if it does. */
export function contradictionOf(
  payment: AnyPayment,
  movement: Movement,
  news: Succeeded,
): 'other_account' | 'other_amount' | null {
  const account = movement.account ?? accountOf(payment);
  if (news.account !== null && news.account !== account) return 'other_account';
  const isOther = news.amountCents !== null && news.amountCents !== movement.amount_cents;
  return isOther ? 'other_amount' : null;
}

export async function insertMovement(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
  booked: Movement['booked'],
): Promise<Movement> {
  const movement = await firstRow<Movement>(
    trx,
    `INSERT INTO movements (merchant_id, id, payment_kind, payment_id, gateway, trans_id,
       amount_cents, account, completed_at, booked)
     VALUES (:merchant_id, :id, :kind, :payment_id, :gateway, :trans_id,
       :amount_cents, :account, :completed_at, :booked)
     RETURNING id, trans_id, amount_cents, account, completed_at, booked`,
    {
      merchant_id: payment.merchant_id,
      id: uuidv7(),
      kind: payment.kind,
      payment_id: payment.id,
      gateway: payment.gateway,
      trans_id: news.transId,
      // A gateway that names no amount reports the one that it was asked for.
      amount_cents: news.amountCents ?? payment.amount_cents,
      account: news.account,
      completed_at: news.completedAt,
      booked,
    },
  );
  return movement!;
}

/** Adds a receipt that was not known when the movement was learned. */
export async function fillReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  transId: string | null,
): Promise<void> {
  if (movement.trans_id !== null || transId === null) return;
  await rows(
    trx,
    `UPDATE movements SET trans_id = :trans_id
     WHERE merchant_id = :merchant_id AND id = :id AND trans_id IS NULL`,
    { merchant_id: payment.merchant_id, id: movement.id, trans_id: transId },
  );
}
