import { type Database, firstRow, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { LAST_MARK } from './last-mark.ts';

/** How far the open payments of a kind are since they were marked. */
export interface OpenPayments {
  kind: GatewayPaymentKind;
  open: number;
  /** No gateway has been asked about them since the mark. */
  unasked: number;
  /** Asked about, and no answer says so far whether the gateway has them. */
  unanswered: number;
  /** They go to their gateway when submissions go on. */
  unsent: number;
  parked: number;
}

export interface RestoreProgress {
  /** When payments were last marked; null when they never were. */
  markedAt: Date | null;
  payments: OpenPayments[];
  /** Open discrepancies about money that no payment here explains. */
  unexplained: number;
}

/** What is to be seen before a restored database may send payments again. */
export async function restoreProgress(database: Database): Promise<RestoreProgress> {
  const row = await firstRow<{ markedAt: Date | null; unexplained: number }>(
    database,
    `SELECT ${LAST_MARK} AS "markedAt",
       (SELECT count(*) FROM discrepancies WHERE resolved_at IS NULL
          AND kind IN ('unknown_movement', 'unknown_payment')) AS unexplained`,
  );
  const payments = await Promise.all(PAYMENT_KINDS.map((kind) => open(database, kind)));
  return { ...row!, payments };
}

/** Of an attempt a of the payment p. */
const OF_PAYMENT =
  'a.merchant_id = p.merchant_id AND a.payment_kind = :kind AND a.payment_id = p.id';

/** What was there when the database was restored; returns of what was there count as that. */
const CREATED_AT: Readonly<Record<GatewayPaymentKind, string>> = {
  collection: 'p.created_at',
  payout: 'p.created_at',
  reversal: 'p.created_at',
  return: `(SELECT c.created_at FROM collections c
    WHERE c.merchant_id = p.merchant_id AND c.id = p.collection_id)`,
};

/**
 * A question takes a new time for the next one; that of the mark is not later than its audit.
 * A return that was planned since begins with its first question.
 * What is to be sent without that its gateway has ruled out an earlier attempt was missed by
 * the mark.
 */
async function open(database: Database, kind: GatewayPaymentKind): Promise<OpenPayments> {
  const [counts] = await rows<Omit<OpenPayments, 'kind'>>(
    database,
    `SELECT count(*) AS open,
       count(*) FILTER (WHERE is_unasked) AS unasked,
       count(*) FILTER (WHERE is_unanswered AND NOT is_unasked) AS unanswered,
       count(*) FILTER (WHERE next_step = 'submit' AND NOT is_unasked) AS unsent,
       count(*) FILTER (WHERE parked_reason IS NOT NULL) AS parked
     FROM ${STEP_TABLES[kind].table} p, LATERAL (SELECT
       coalesce(next_step = 'poll' AND (next_step_at <= ${LAST_MARK} OR step_no = 1)
         OR next_step = 'submit' AND ${CREATED_AT[kind]} <= ${LAST_MARK} AND NOT EXISTS (
           SELECT FROM attempts a WHERE ${OF_PAYMENT} AND a.result = 'ruled_out'), false)
         AS is_unasked,
       coalesce(next_step = 'poll' AND status = 'pending' AND EXISTS (
         SELECT FROM attempts a WHERE ${OF_PAYMENT} AND a.not_found_count = 0
           AND (a.result IS NULL OR a.result = 'unknown')), false) AS is_unanswered) AS seen
     WHERE status IN ('pending', 'processing')`,
    { kind },
  );
  return { kind, ...counts! };
}
