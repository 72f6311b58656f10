import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { storableText } from '../storable-text.ts';

/**
 * What came of one submission. No answer (null), 'acknowledged', 'declined' and 'unknown'
 * each mean that the gateway may have the payment; only 'not_taken' and 'ruled_out' let
 * the same reference go again.
 */
export type AttemptResult = 'acknowledged' | 'declined' | 'not_taken' | 'unknown' | 'ruled_out';

/** Longer than any call to a gateway can last: until then an attempt without answer may be under way. */
const LONGEST_CALL_MS = 30_000;
const MAX_DETAIL_LENGTH = 500;

/**
 * Claims the right to submit, before the call and committed before it.
 * @returns the attempt's number, or null when an earlier one may have arrived.
 */
export async function insertAttempt(trx: Transaction, payment: AnyPayment): Promise<number | null> {
  const row = await firstRow<{ attempt_no: number }>(
    trx,
    // The call comes after the locks that this transaction may have waited for.
    `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, started_at)
     SELECT :merchant_id, :kind, :id, coalesce(max(attempt_no), 0) + 1, clock_timestamp()
     FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
     ON CONFLICT DO NOTHING
     RETURNING attempt_no`,
    keyOf(payment),
  );
  return row?.attempt_no ?? null;
}

/** Whether the gateway may have the payment from an earlier attempt. */
export async function mayHaveArrived(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  const row = await firstRow(
    trx,
    `SELECT 1 FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND (result IS NULL OR result NOT IN ('not_taken', 'ruled_out'))`,
    keyOf(payment),
  );
  return row !== undefined;
}

/** Whether a call to the gateway may be going on now. */
export async function isUnderWay(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  const row = await firstRow(
    trx,
    `SELECT 1 FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND result IS NULL AND ${callEndOf('attempts')} > now()`,
    keyOf(payment),
  );
  return row !== undefined;
}

/**
 * SQL, of a row of attempts that goes by this name: when at the latest its call was over.
 * What the gateway says of an earlier moment proves nothing about it.
 */
export function callEndOf(row: string): string {
  return `coalesce(${row}.answered_at, ${row}.started_at + interval '${LONGEST_CALL_MS} ms')`;
}

/** Writes down the answer to an attempt, once. */
export async function answerAttempt(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  result: AttemptResult,
  detail: string | null,
): Promise<void> {
  await rows(
    trx,
    `UPDATE attempts SET result = :result, detail = :detail, answered_at = now()
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND attempt_no = :attempt_no AND result IS NULL`,
    {
      ...keyOf(payment),
      attempt_no: attemptNo,
      result,
      detail: detail === null ? null : storableText(detail, MAX_DETAIL_LENGTH),
    },
  );
}

/**
 * Notes that it may have been sent without our knowing: the gateway must be asked before it
 * goes again, and what it said about it before proves nothing any more.
 */
export async function assumeSent(
  trx: Transaction,
  payment: AnyPayment,
  why: string,
): Promise<void> {
  const attemptNo = await insertAttempt(trx, payment);
  if (attemptNo !== null) {
    await answerAttempt(trx, payment, attemptNo, 'unknown', why);
    return;
  }
  await rows(
    trx,
    `UPDATE attempts SET result = 'unknown', detail = coalesce(detail, :why),
       answered_at = now(), not_found_count = 0
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND (result IS NULL OR result = 'unknown')`,
    { ...keyOf(payment), why },
  );
}

/**
 * Counts one "not found" of the gateway, asked at `askedAt`, about the attempt that may have
 * arrived. Within the settling window, or while the call may still have been under way, it
 * proves nothing and is not counted. With `confirmations` of them the attempt is ruled out.
 * @returns whether the same reference may be submitted again.
 */
export async function countNotFound(
  trx: Transaction,
  payment: AnyPayment,
  askedAt: Date,
  settlingWindowMs: number,
  confirmations: number,
): Promise<boolean> {
  const row = await firstRow<{ result: AttemptResult | null }>(
    trx,
    `UPDATE attempts SET not_found_count = not_found_count + 1,
       result = CASE WHEN not_found_count + 1 >= :confirmations THEN 'ruled_out' ELSE result END
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND (result IS NULL OR result = 'unknown')
       AND ${callEndOf('attempts')} + :settling_ms * interval '1 millisecond' < :asked_at
     RETURNING result`,
    {
      ...keyOf(payment),
      confirmations,
      asked_at: askedAt,
      settling_ms: settlingWindowMs,
    },
  );
  return row?.result === 'ruled_out';
}

function keyOf(payment: AnyPayment) {
  return { merchant_id: payment.merchant_id, kind: payment.kind, id: payment.id };
}
