import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { storableText } from '../text.ts';
import { LONGEST_CALL_MS } from './call-limits.ts';

/**
 * The result of one submission. With 'not_taken' or 'ruled_out' the same reference may go
 * again. With any other result, or without one (null), the gateway may have the payment.
 */
export type AttemptResult = 'acknowledged' | 'declined' | 'not_taken' | 'unknown' | 'ruled_out';

const MAX_DETAIL_LENGTH = 500;
/** The gateway must say "not found" this often before the service believes it. */
const NOT_FOUND_CONFIRMATIONS = 3;

/**
 * Claims the right to submit. The claim must be committed before the call.
 * @returns the attempt's number, or null when an earlier attempt may have arrived.
 */
export async function insertAttempt(trx: Transaction, payment: AnyPayment): Promise<number | null> {
  const row = await firstRow<{ attempt_no: number }>(
    trx,
    // Not now(): the transaction may have waited for locks since it began.
    `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, started_at)
     SELECT :merchant_id, :kind, :id, coalesce(max(attempt_no), 0) + 1, clock_timestamp()
     FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
     ON CONFLICT DO NOTHING
     RETURNING attempt_no`,
    payment,
  );
  return row?.attempt_no ?? null;
}

/** SQL: the gateway may have the payment from this attempt. */
export const MAY_HAVE_ARRIVED = `(result IS NULL OR result NOT IN ('not_taken', 'ruled_out'))`;

/** Tells whether the gateway may have the payment from an earlier attempt. */
export async function mayHaveArrived(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND ${MAY_HAVE_ARRIVED}`,
    payment,
  );
}

/** Tells whether a call to the gateway may be going on now. */
export async function isUnderWay(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND result IS NULL AND ${callEndOf('attempts')} > now()`,
    payment,
  );
}

/**
 * Returns SQL for the latest end of an attempt's call. An answer of the gateway to a question
 * before that moment proves nothing about the attempt.
 */
export function callEndOf(row: string): string {
  return `coalesce(${row}.answered_at, ${row}.started_at + interval '${LONGEST_CALL_MS} ms')`;
}

/**
 * Records the result of an attempt, once.
 * @returns false for an old attempt: it was ruled out, or the service has assumed its result.
 */
export async function answerAttempt(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  result: AttemptResult,
  { detail = null, external_ref = null }: { detail?: string | null; external_ref?: string | null },
): Promise<boolean> {
  return hasRow(
    trx,
    `UPDATE attempts SET result = :result, detail = :detail, answered_at = now(),
       external_ref = :external_ref
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND attempt_no = :attempt_no AND result IS NULL
     RETURNING attempt_no`,
    {
      ...payment,
      attempt_no: attemptNo,
      result,
      external_ref,
      detail: detail === null ? null : storableText(detail, MAX_DETAIL_LENGTH),
    },
  );
}

/** Counts the attempts of a payment, all or those whose detail begins like this. */
export async function countAttempts(
  trx: Transaction,
  payment: AnyPayment,
  detail = '',
): Promise<number> {
  const row = await firstRow<{ count: number }>(
    trx,
    `SELECT count(*) AS count FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND starts_with(coalesce(detail, ''), :detail)`,
    { ...payment, detail },
  );
  return row!.count;
}

/**
 * Records that the payment may have been sent without our knowing. The gateway must be asked
 * before the payment goes again, and its earlier answers prove nothing any more.
 */
export async function assumeSent(
  trx: Transaction,
  payment: AnyPayment,
  why: string,
): Promise<void> {
  const attemptNo = await insertAttempt(trx, payment);
  if (attemptNo !== null) {
    await answerAttempt(trx, payment, attemptNo, 'unknown', { detail: why });
    return;
  }
  await rows(
    trx,
    `UPDATE attempts SET result = 'unknown', detail = coalesce(detail, :why),
       answered_at = now(), not_found_count = 0, not_found_asked_at = NULL
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND (result IS NULL OR result = 'unknown')`,
    { ...payment, why },
  );
}

/**
 * Counts one "not found" of the gateway, asked at `askedAt`, about the attempt that may have
 * arrived. Does not count it while the call may still be going on, nor within the settling
 * window after it, nor the answer to one question twice. Rules the attempt out after NOT_FOUND_CONFIRMATIONS of them.
 */
export async function countNotFound(
  trx: Transaction,
  payment: AnyPayment,
  askedAt: Date,
  settlingWindowMs: number,
): Promise<void> {
  await rows(
    trx,
    `UPDATE attempts SET not_found_count = not_found_count + 1, not_found_asked_at = :asked_at,
       result = CASE WHEN not_found_count + 1 >= :confirmations THEN 'ruled_out' ELSE result END
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND (result IS NULL OR result = 'unknown')
       AND ${callEndOf('attempts')} + :settling_ms * interval '1 millisecond' < :asked_at
       AND (not_found_asked_at IS NULL OR not_found_asked_at < :asked_at)`,
    {
      ...payment,
      confirmations: NOT_FOUND_CONFIRMATIONS,
      asked_at: askedAt,
      settling_ms: settlingWindowMs,
    },
  );
}

/** Reads the gateway's references in the acknowledgements of a payment. */
export async function acknowledgedReferences(
  trx: Transaction,
  payment: AnyPayment,
): Promise<string[]> {
  const found = await rows<{ external_ref: string }>(
    trx,
    `SELECT external_ref FROM attempts
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND external_ref IS NOT NULL`,
    payment,
  );
  return found.map(({ external_ref }) => external_ref);
}

/** Records the gateway's reference of an attempt, also of an old one. */
export async function keepReference(
  trx: Transaction,
  payment: AnyPayment,
  attemptNo: number,
  external_ref: string,
): Promise<void> {
  await rows(
    trx,
    `UPDATE attempts SET external_ref = :external_ref
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND attempt_no = :attempt_no`,
    { ...payment, external_ref, attempt_no: attemptNo },
  );
}
