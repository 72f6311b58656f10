import { firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { type AnyPayment, OF_PAYMENT, type PaymentRef } from '../payments/payment-store.ts';
import { BEST_SOURCE, UNSURE_SOURCES } from './sources.ts';

/*
 * News may be recorded late. What the gateway has told since contradicts it, and the newest word counts.
 */

/**
 * SQL: when the gateway itself last told of the movement `m`. When people have told of it, or brought a file, says
 * nothing of the gateway's word.
 */
const TOLD_AT = `CASE WHEN m.told_by = ANY (:people) THEN m.confirmed_at
  ELSE greatest(m.heard_at, m.confirmed_at) END`;

/** SQL: the time of the money of the movement `m`, if a line of the gateway's statement tells of it. */
const LINE_AT = `CASE split_part(${BEST_SOURCE}, ' ', 1) WHEN 'statement' THEN m.completed_at END`;

/**
 * Tells whether the gateway has told of a movement of the payment after it told of a failure at
 * `heardAt`. Null is now. What counts is when news was heard, not when it was recorded. The word of
 * people about a success proves nothing against the gateway's. A statement tells late of what was: its
 * line is as old as its money.
 */
export async function isOvertaken(
  trx: Transaction,
  payment: AnyPayment,
  heardAt: Date | null,
): Promise<boolean> {
  if (heardAt === null) return false;
  return hasRow(
    trx,
    `SELECT FROM (
       SELECT booked, least(${TOLD_AT}, ${LINE_AT}) > CAST(:heard_at AS timestamptz) AS is_newer
       FROM movements m WHERE ${OF_PAYMENT} AND ${BEST_SOURCE} <> ALL (:people)
     ) AS told
     -- Other money, that came later, does not tell that the money of the completion has not bounced.
     HAVING bool_or(is_newer) AND NOT bool_or(booked = 'settled' AND NOT is_newer)`,
    { ...payment, heard_at: heardAt, people: UNSURE_SOURCES },
  );
}

/**
 * Tells whether the gateway has failed a payment, or failed it again, after it told of a success at `heardAt`. Null is
 * now. The money may have bounced.
 */
export async function hasFailedSince(
  trx: Transaction,
  payment: AnyPayment,
  heardAt: Date | null,
): Promise<boolean> {
  if (payment.status !== 'failed' || heardAt === null) return false;
  const failedAt = await lastFailedAt(trx, payment);
  return failedAt !== null && failedAt > heardAt;
}

/** Finds by what the gateway has last failed a payment, and when. Null: it has not. */
export async function newestFailure(
  trx: Transaction,
  payment: AnyPayment,
): Promise<{ by: string; at: Date } | null> {
  const at = await lastFailedAt(trx, payment);
  const last = await firstRow<{ cause: string }>(
    trx,
    `SELECT cause FROM payment_history WHERE ${OF_PAYMENT} AND to_status = 'failed'
     ORDER BY happened_at DESC LIMIT 1`,
    payment,
  );
  return at && last ? { by: last.cause, at } : null;
}

/** Tells whether the gateway itself has told that a payment succeeded. What people say is no word of the gateway's. */
export function hasToldSuccess(trx: Transaction, payment: PaymentRef): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT FROM callbacks WHERE ${OF_PAYMENT} AND outcome = 'succeeded'
     UNION ALL SELECT FROM movements m WHERE ${OF_PAYMENT} AND ${BEST_SOURCE} <> ALL (:people)`,
    { ...payment, people: UNSURE_SOURCES },
  );
}

/**
 * Tells whether the gateway has failed a payment after it told of some of its money, or has told of none. Other money,
 * that came later, does not tell that the first has not bounced.
 */
export async function hasFailedSinceMoney(trx: Transaction, payment: PaymentRef): Promise<boolean> {
  const failedAt = await lastFailedAt(trx, payment);
  if (failedAt === null) return false;
  const found = await firstRow<{ moved_at: Date | null }>(
    trx,
    `SELECT min(least(${TOLD_AT}, ${LINE_AT})) AS moved_at FROM movements m
     WHERE ${OF_PAYMENT} AND booked <> 'undone' AND ${BEST_SOURCE} <> ALL (:people)`,
    { ...payment, people: UNSURE_SOURCES },
  );
  const { moved_at } = found!;
  return moved_at === null || failedAt >= moved_at;
}

/**
 * Finds when the gateway last failed a payment, by the time at which that was heard. Null: never. A repeated callback is
 * as old as the first.
 */
async function lastFailedAt(trx: Transaction, payment: PaymentRef): Promise<Date | null> {
  const found = await firstRow<{ at: Date | null }>(
    trx,
    `SELECT max(at) AS at FROM (
       SELECT min(received_at) AS at FROM callbacks
       WHERE ${OF_PAYMENT} AND outcome = 'failed' GROUP BY body
       -- A callback may wait before its failure is recorded, and counts as it came in.
       UNION ALL SELECT coalesce(CASE cause WHEN 'callback' THEN (
           SELECT max(received_at) FROM callbacks WHERE ${OF_PAYMENT} AND received_at <= h.happened_at
         ) END, happened_at) FROM payment_history h
       WHERE ${OF_PAYMENT} AND to_status = 'failed' AND cause IN ('submission', 'callback', 'poll')
       -- The failure of a completed payment is a question. One about its collection is none of its own.
       UNION ALL SELECT CAST(coalesce(e->>'told_at', e->>'found_at') AS timestamptz)
       FROM discrepancies, jsonb_array_elements(evidence) AS e
       WHERE ${OF_PAYMENT} AND kind = 'failure_after_success' AND NOT e->'details' ? 'of'
     ) AS failures`,
    payment,
  );
  return found!.at;
}
