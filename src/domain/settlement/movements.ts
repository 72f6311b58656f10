import { v7 as uuidv7 } from 'uuid';
import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf } from '../payments/payment-store.ts';

/** Money that a gateway says it moved for a payment. The service books each once, when it learns of it. */
export interface Movement {
  merchant_id: number;
  id: string;
  trans_id: string | null;
  amount_cents: number;
  account: string | null;
  completed_at: Date | null;
  /** Booked as the payment's own, waiting in suspense for a decision, or cleared by one. */
  booked: 'settled' | 'suspense' | 'cleared';
}

const COLUMNS = 'merchant_id, id, trans_id, amount_cents, account, completed_at, booked';

/** Reads the movements of a payment. The payment must be locked. */
export async function movementsOf(trx: Transaction, payment: AnyPayment): Promise<Movement[]> {
  return rows<Movement>(
    trx,
    `SELECT ${COLUMNS} FROM movements
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
     ORDER BY learned_at, id`,
    payment,
  );
}

/**
 * Tells whether a gateway has told of a movement of the payment after `moment`. The payment
 * must be locked. Support's word about a success proves nothing against the gateway's.
 */
export async function learnedSince(
  trx: Transaction,
  payment: AnyPayment,
  moment: Date,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM movements m WHERE merchant_id = :merchant_id AND payment_kind = :kind
       AND payment_id = :id AND learned_at > :moment
       AND NOT EXISTS (SELECT FROM payment_history h WHERE h.merchant_id = m.merchant_id
         AND h.payment_kind = m.payment_kind AND h.payment_id = m.payment_id
         AND h.cause = 'support' AND h.to_status = 'completed')`,
    { ...payment, moment },
  );
}

/** Names a movement of a merchant. */
export type MovementRef = Pick<Movement, 'merchant_id' | 'id'>;

/** Reads a movement. @throws Error when there is none: the caller has its id from a row. */
export async function findMovement(trx: Transaction, ref: MovementRef): Promise<Movement> {
  const movement = await firstRow<Movement>(
    trx,
    `SELECT ${COLUMNS} FROM movements WHERE merchant_id = :merchant_id AND id = :id`,
    ref,
  );
  if (!movement) throw new Error(`Movement ${ref.id} is gone`);
  return movement;
}

/** Marks a movement that was in suspense as decided about. */
export async function rebookMovement(
  trx: Transaction,
  ref: MovementRef,
  booked: 'settled' | 'cleared',
): Promise<void> {
  await rows(
    trx,
    `UPDATE movements SET booked = :booked
     WHERE merchant_id = :merchant_id AND id = :id AND booked = 'suspense'`,
    { ...ref, booked },
  );
}

/**
 * Returns the known movement that this news repeats: the one with the same receipt, or, when
 * one side has no receipt, the one that may be the same.
 */
export function repeatedMovement(known: Movement[], news: Succeeded): Movement | undefined {
  if (news.transId === null) return known[0];
  return (
    known.find(({ trans_id }) => trans_id === news.transId) ??
    known.find(({ trans_id }) => trans_id === null)
  );
}

/**
 * Returns how a movement differs from the booked one that it repeats, or else from what was asked
 * for, if it does. A gateway that names no account or no amount contradicts none.
 */
export function mismatchOf(
  payment: AnyPayment,
  news: Succeeded,
  booked?: Movement,
): 'other_account' | 'other_amount' | null {
  const account = booked?.account ?? accountOf(payment);
  const { amount_cents } = booked ?? payment;
  if (news.account !== null && news.account !== account) return 'other_account';
  const isOther = news.amountCents !== null && news.amountCents !== amount_cents;
  return isOther ? 'other_amount' : null;
}

/** Records a movement of a payment. */
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
     VALUES (:merchant_id, :movement_id, :kind, :id, :gateway, :trans_id,
       :amount_cents, :account, :completed_at, :booked)
     RETURNING ${COLUMNS}`,
    {
      ...payment,
      movement_id: uuidv7(),
      trans_id: news.transId,
      // A gateway that names no amount means the one that it was asked for.
      amount_cents: news.amountCents ?? payment.amount_cents,
      account: news.account,
      completed_at: news.completedAt,
      booked,
    },
  );
  return movement!;
}

/** Adds a receipt that was not known when the movement was recorded. */
export async function fillReceipt(
  trx: Transaction,
  movement: Movement,
  trans_id: string | null,
): Promise<void> {
  if (movement.trans_id !== null || trans_id === null) return;
  await rows(
    trx,
    `UPDATE movements SET trans_id = :trans_id
     WHERE merchant_id = :merchant_id AND id = :id AND trans_id IS NULL`,
    { ...movement, trans_id },
  );
}
