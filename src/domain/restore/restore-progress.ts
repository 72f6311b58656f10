import { type Database, firstRow, rows } from '../../database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** How far the open payments of a kind are since they were marked. */
export interface OpenPayments {
  kind: GatewayPaymentKind;
  open: number;
  /** Marked, and no gateway has been asked about them since. */
  unasked: number;
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
export async function restoreProgress(
  database: Database,
  markAction: string,
): Promise<RestoreProgress> {
  const row = await firstRow<{ markedAt: Date | null; unexplained: number }>(
    database,
    `SELECT (SELECT max(happened_at) FROM audit_log WHERE action = :action) AS "markedAt",
       (SELECT count(*) FROM discrepancies WHERE resolved_at IS NULL
          AND kind IN ('unknown_movement', 'unknown_payment')) AS unexplained`,
    { action: markAction },
  );
  return { ...row!, payments: await Promise.all(PAYMENT_KINDS.map(open)) };

  /** A question takes a new time for the next one; that of the mark is not later than its audit. */
  async function open(kind: GatewayPaymentKind): Promise<OpenPayments> {
    const [counts] = await rows<Omit<OpenPayments, 'kind'>>(
      database,
      `SELECT count(*) AS open,
         count(*) FILTER (WHERE next_step = 'poll' AND next_step_at <= (
           SELECT max(happened_at) FROM audit_log WHERE action = :action)) AS unasked,
         count(*) FILTER (WHERE next_step = 'submit') AS unsent,
         count(*) FILTER (WHERE parked_reason IS NOT NULL) AS parked
       FROM ${STEP_TABLES[kind].table} WHERE status IN ('pending', 'processing')`,
      { action: markAction },
    );
    return { kind, ...counts! };
  }
}
