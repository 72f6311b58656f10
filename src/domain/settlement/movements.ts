import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf, type PaymentRef } from '../payments/payment-store.ts';
import { claim, claimed, directionOf } from './receipts.ts';
import { isSameAccount } from './same-account.ts';
import type { News } from './settle.ts';
import { sourceOf } from './sources.ts';

/** Money that a gateway says it moved for a payment. The service books each once, when it learns of it. */
export interface Movement {
  merchant_id: number;
  id: string;
  trans_id: string | null;
  amount_cents: number;
  account: string | null;
  completed_at: Date | null;
  /** When the gateway told of it, or when it was recorded. */
  heard_at: Date;
  /**
   * - settled: booked as the payment's own.
   * - suspense: it waits there for a decision. Nobody has decided.
   * - returning: a return takes it back to the customer.
   * - cleared: it has left suspense.
   * - undoing: the gateway has told of it, and support has undone its payment. It is in suspense until
   *   somebody has seen that it came back.
   * - undone: it did not move, or has come back.
   */
  booked: 'settled' | 'suspense' | 'returning' | 'undoing' | 'cleared' | 'undone';
  /** When support has said that the money is back, for the last time. Null: it never moved, or is where it is booked. */
  back_at: Date | null;
  /** The name of the row of a statement that brings it back, or asks whether it does. Each row brings one back. */
  row_back: string | null;
  /**
   * The cause of the news. 'support' or 'file' when only people have told of it, 'likeness' or 'file_likeness'
   * when a line names no payment, and fits this one.
   */
  told_by: string;
  /** The cause of the news that has proven more than the first, and when the gateway told it. */
  confirmed_by: string | null;
  confirmed_at: Date | null;
  /** The source that has told the receipt, if it came later than the money. */
  receipt_told_by: string | null;
}

const COLUMNS = `merchant_id, id, trans_id, amount_cents, account, completed_at, heard_at, booked, back_at, row_back,
  told_by, confirmed_by, confirmed_at, receipt_told_by`;

/** Tells whether a customer's money waits for no return any more: it went back in another way, or never came. */
export function isGone({ booked }: Movement): boolean {
  return booked === 'cleared' || booked === 'undone';
}

/** Reads the movements of a payment. Lock the payment before a change that depends on them. */
export async function movementsOf(
  trx: Database | Transaction,
  payment: AnyPayment,
): Promise<Movement[]> {
  return rows<Movement>(
    trx,
    `SELECT ${COLUMNS} FROM movements
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
     ORDER BY learned_at, id`,
    payment,
  );
}

/** A movement that went out, and what support says of it: it has come back, or is lost. */
interface ClearedByWord {
  id: string;
  trans_id: string | null;
  resolution: 'returned' | 'failed';
}

/**
 * Finds the movements that went out for a payment and that left suspense by support's word. The books keep
 * that word, whatever becomes of the discrepancy.
 */
export async function clearedByWord(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<ClearedByWord[]> {
  return rows<ClearedByWord>(
    database,
    `SELECT m.id, m.trans_id, CASE e.account WHEN 'losses' THEN 'failed' ELSE 'returned' END AS resolution
     FROM movements m
     JOIN journals j ON j.merchant_id = m.merchant_id AND j.source_kind = 'movement'
       AND j.source_id = m.id AND j.kind = 'cleared'
     JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
       AND e.account IN ('losses', 'gateway_float')
     WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind AND m.payment_id = :id
       AND m.payment_kind <> 'collection' AND m.booked = 'cleared'`,
    payment,
  );
}

/** Names a movement of a merchant. */
export type MovementRef = Pick<Movement, 'merchant_id' | 'id'>;

/** Reads a movement. @throws Error when it does not exist: the caller has its id from a row. */
export async function findMovement(trx: Transaction, ref: MovementRef): Promise<Movement> {
  const movement = await firstRow<Movement>(
    trx,
    `SELECT ${COLUMNS} FROM movements WHERE merchant_id = :merchant_id AND id = :id`,
    ref,
  );
  if (!movement) throw new Error(`Movement ${ref.id} is gone`);
  return movement;
}

/**
 * Returns the known movement that this news repeats: the one with the same receipt, or, when
 * one side has no receipt, the one that may be the same.
 */
export function repeatedMovement(known: Movement[], news: Succeeded): Movement | undefined {
  if (news.transId === null) return known[0];
  const receipt = news.transId.toUpperCase();
  return (
    known.find(({ trans_id }) => trans_id?.toUpperCase() === receipt) ??
    known.find(({ trans_id }) => trans_id === null)
  );
}

/**
 * Returns how a movement differs from the booked one that it repeats, or else from what was asked
 * for, if it does. A gateway that names no account or no amount contradicts none. One that names the
 * whole amount for a part of it does not either.
 */
export function mismatchOf(
  payment: AnyPayment,
  news: Succeeded,
  booked?: Movement,
): 'other_account' | 'other_amount' | null {
  const account = booked?.account ?? accountOf(payment);
  const amounts = [(booked ?? payment).amount_cents];
  if (booked?.booked === 'settled') amounts.push(payment.amount_cents);
  if (news.account !== null && !isSameAccount(news.account, account)) return 'other_account';
  const isOther = news.amountCents !== null && !amounts.includes(news.amountCents);
  return isOther ? 'other_amount' : null;
}

/**
 * Records a movement of a payment, and claims its receipt.
 * @returns null when the receipt belongs to another payment. It records nothing then.
 */
export async function insertMovement(
  trx: Transaction,
  payment: AnyPayment,
  news: News<Succeeded>,
  booked: 'settled' | 'suspense',
): Promise<Movement | null> {
  const bindings = movementBindings(payment, news, booked);
  return claim(trx, payment, news.transId, async () => {
    const movement = await firstRow<Movement>(
      trx,
      `WITH ${claimed()} ${INSERT_MOVEMENT}
         WHERE CAST(:trans_id AS text) IS NULL OR EXISTS (SELECT FROM claimed)
       RETURNING ${COLUMNS}`,
      bindings,
    );
    return movement ?? null;
  });
}

/** SQL: records a movement. A FROM or a condition may follow. */
export const INSERT_MOVEMENT = `INSERT INTO movements (merchant_id, id, payment_kind, payment_id,
    gateway, trans_id, amount_cents, account, completed_at, booked, heard_at, told_by)
  SELECT :merchant_id, :movement_id, :kind, :id, :gateway, :trans_id,
    :amount_cents, :account, CAST(:completed_at AS timestamptz), :booked,
    coalesce(CAST(:heard_at AS timestamptz), clock_timestamp()), :told_by`;

/** Returns the values for `INSERT_MOVEMENT`, and for the claim of its receipt. */
export function movementBindings(
  payment: AnyPayment,
  news: News<Succeeded>,
  booked: 'settled' | 'suspense',
) {
  return {
    ...payment,
    movement_id: uuidv7(),
    direction: directionOf(payment.kind),
    heard_at: news.heardAt,
    told_by: sourceOf(news),
    trans_id: news.transId,
    // A gateway that names no amount means the one that it was asked for.
    amount_cents: news.amountCents ?? payment.amount_cents,
    account: wholeAccount(payment, news.account),
    completed_at: news.completedAt,
    booked,
  };
}

/** Returns the account to book. One with hidden digits tells no more than the payment's own. */
function wholeAccount(payment: AnyPayment, account: string | null): string | null {
  const own = accountOf(payment);
  return account !== null && isSameAccount(account, own) ? own : account;
}

/**
 * SQL: the movements `m` and `own` of one payment are the same money: it was booked under its receipt before, or was taken
 * back and told again, and one of the two times without a receipt.
 */
export const IS_SAME_MONEY = `(m.id = own.id OR m.trans_id = own.trans_id
  OR (m.trans_id IS NULL OR own.trans_id IS NULL) AND m.amount_cents = own.amount_cents
    AND 'undone' IN (m.booked, own.booked))`;

/** Tells whether two movements of one payment are the same money. `IS_SAME_MONEY` is the same rule in SQL. */
export function isSameMoney(one: Movement, other: Movement): boolean {
  if (one.id === other.id) return true;
  if (one.trans_id !== null && other.trans_id !== null) return one.trans_id === other.trans_id;
  const wasTakenBack = one.booked === 'undone' || other.booked === 'undone';
  return wasTakenBack && one.amount_cents === other.amount_cents;
}

/** Every change of where a movement is booked. */
const REBOOKINGS: Readonly<Record<Movement['booked'], readonly Movement['booked'][]>> = {
  suspense: ['settled', 'returning', 'cleared', 'undone'],
  returning: ['cleared', 'suspense'],
  settled: ['undoing', 'undone'],
  undoing: ['returning', 'cleared', 'undone'],
  // A return that was undone has left the money of its collection undecided. Support's word that money
  // has come back may be taken back.
  cleared: ['suspense', 'undone'],
  undone: [],
};

/**
 * Records that a movement is booked elsewhere now. Its journal belongs in the same transaction.
 * @param isBack is true if support says that the money has moved, and is back. That holds for all that was booked under
 * its receipt; so does the opposite, unless the money is taken back because its teller was wrong.
 * @throws Error when the movement cannot go there from where it is booked
 */
export async function rebookMovement(
  trx: Transaction,
  ref: MovementRef,
  booked: Movement['booked'],
  isBack = false,
): Promise<void> {
  const from = Object.entries(REBOOKINGS).filter(([, to]) => to.includes(booked));
  const isRebooked = await hasRow(
    trx,
    `WITH rebooked AS (
       UPDATE movements SET booked = :booked, back_at = CASE WHEN :isBack THEN clock_timestamp() END
       WHERE merchant_id = :merchant_id AND id = :id AND booked = ANY (:from)
       RETURNING merchant_id, id, payment_kind, payment_id, trans_id, amount_cents, booked, back_at
     ), same AS (
       UPDATE movements m SET back_at = own.back_at FROM rebooked own
       WHERE m.merchant_id = own.merchant_id AND m.payment_kind = own.payment_kind
         AND m.payment_id = own.payment_id AND m.id <> own.id AND m.booked = 'undone'
         AND ${IS_SAME_MONEY} AND (:isBack OR :booked <> 'undone')
     )
     SELECT id FROM rebooked`,
    { ...ref, booked, isBack, from: from.map(([name]) => name) },
  );
  if (!isRebooked) throw new Error(`Movement ${ref.id} cannot be booked as ${booked}`);
}

/**
 * Gives the movement that completed a payment the amount that the gateway has told since, in cents. The
 * payment must be locked. The database refuses an amount that no finding has told.
 * @returns the account that the gateway has told, if it has
 * @throws OperatorRefusal when the payment has moved in parts
 */
export async function correctAmount(
  trx: Transaction,
  payment: PaymentRef,
  amount_cents: number,
): Promise<Pick<Movement, 'account'>> {
  const { merchant_id, kind, id } = payment;
  const [corrected, ...others] = await rows<Pick<Movement, 'account'>>(
    trx,
    `UPDATE movements SET amount_cents = :amount_cents
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND booked = 'settled' RETURNING account`,
    { merchant_id, kind, id, amount_cents },
  );
  if (!corrected) throw new Error(`The ${kind} ${id} has no movement of its own`);
  if (others.length === 0) return corrected;
  throw new OperatorRefusal(`The ${kind} has moved in parts: undo it, and decide about each part`);
}
