import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { type PayoutHold, payoutHoldOf } from '../merchants/payout-hold.ts';
import { type AnyPayment, findPayment, type PaymentRef } from '../payments/payment-store.ts';
import { type PaymentSummary, selectSummaries } from '../payments/payment-summary.ts';
import { casesOf, type DiscrepancyCase } from './discrepancy-cases.ts';
import type { FailedJob } from './failed-job-store.ts';
import { listFailedJobs } from './failed-job-store.ts';

/** A payment with more was replayed in vain for a long time. */
const MAX_FAILED_JOBS = 100;

/** A row as it is stored. */
export type Row = Record<string, unknown>;

/** A journal with its lines in cents. Positive is the merchant's gain. */
export interface JournalRow {
  id: string;
  source_kind: string;
  kind: string;
  created_at: Date;
  entries: { account: string; amount_cents: number }[];
}

/** Everything that the database has about one payment. */
export interface PaymentFile {
  payment: AnyPayment;
  /** Why it is not sent because of its merchant, if that is what it waits for. */
  hold: PayoutHold | null;
  history: Row[];
  attempts: Row[];
  movements: Row[];
  journals: JournalRow[];
  /** What its merchant is told, each with its delivery. More than one if its end was corrected. */
  events: Row[];
  deliveryAttempts: Row[];
  callbacks: Row[];
  /** Failed jobs of the payment, its callbacks and its webhook. */
  failedJobs: FailedJob[];
  discrepancies: DiscrepancyCase[];
  /** The collection that it gives back, or a collection's reversals and returns. */
  related: PaymentSummary[];
}

/** Reads the file of a payment. @returns undefined when there is no such payment. */
export async function readPaymentFile(
  database: Database,
  ref: PaymentRef,
): Promise<PaymentFile | undefined> {
  const payment = await findPayment(database, ref);
  if (!payment) return undefined;
  const own = <Found = Row>(select: string, order = '') =>
    rows<Found>(database, `${select} WHERE ${OWN} ${order}`, ref);
  return {
    payment,
    hold: payment.next_step === 'submit' ? await payoutHoldOf(database, payment) : null,
    history: await own(
      'SELECT from_status, to_status, cause, happened_at FROM payment_history',
      'ORDER BY happened_at',
    ),
    attempts: await own(
      'SELECT attempt_no, result, detail, not_found_count, started_at, answered_at FROM attempts',
      'ORDER BY attempt_no',
    ),
    movements: await own(
      `SELECT id, trans_id, amount_cents, account, completed_at, booked, learned_at
       FROM movements`,
      'ORDER BY learned_at, id',
    ),
    journals: await journalsOf(database, ref),
    events: await rows(database, EVENTS, ref),
    deliveryAttempts: await rows(database, DELIVERY_ATTEMPTS, ref),
    callbacks: await own(
      'SELECT id, received_at, status, problem, parked_reason, body FROM callbacks',
      'ORDER BY received_at, id',
    ),
    failedJobs: await listFailedJobs(
      database,
      { payments: [payment] },
      { order: 'oldest first', limit: MAX_FAILED_JOBS },
    ),
    discrepancies: await casesOf(database, ref),
    related: await relatedTo(database, payment),
  };
}

/** The condition for rows of one payment, in every table about payments. */
const OWN = 'merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id';

const EVENTS = `
  SELECT id, type, callback_url, sequence, created_at, d.status, d.attempts, d.next_step_at,
    d.parked_reason
  FROM (SELECT * FROM events WHERE ${OWN}) e
  LEFT JOIN webhook_deliveries d ON d.merchant_id = e.merchant_id AND d.event_id = e.id
  ORDER BY change_no`;

const DELIVERY_ATTEMPTS = `
  SELECT a.event_id, a.attempt_no, a.response_status, a.error, a.duration_ms, a.attempted_at
  FROM (SELECT * FROM events WHERE ${OWN}) e
  JOIN webhook_attempts a ON a.merchant_id = e.merchant_id AND a.event_id = e.id
  ORDER BY a.attempted_at`;

/**
 * Reads the journals of a payment, oldest first: its own, those of its movements, and those of
 * the movements that its discrepancies are about.
 */
export function journalsOf(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<JournalRow[]> {
  return rows<JournalRow>(
    database,
    `WITH source AS (
       SELECT CAST(:kind AS text) AS kind, CAST(:id AS uuid) AS id
       UNION SELECT 'movement', id FROM movements WHERE ${OWN}
       UNION SELECT 'movement', movement_id FROM discrepancies
         WHERE ${OWN} AND movement_id IS NOT NULL
     )
     SELECT j.id, j.source_kind, j.kind, j.created_at,
       jsonb_agg(jsonb_build_object('account', e.account, 'amount_cents', e.amount_cents)
         ORDER BY e.line) AS entries
     FROM source s
     JOIN journals j ON j.merchant_id = :merchant_id AND j.source_kind = s.kind
       AND j.source_id = s.id
     JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
     GROUP BY j.merchant_id, j.id ORDER BY j.created_at, j.id`,
    payment,
  );
}

async function relatedTo(database: Database, payment: AnyPayment): Promise<PaymentSummary[]> {
  if (payment.kind === 'payout') return [];
  const { merchant_id, kind } = payment;
  const parts =
    kind === 'collection'
      ? (['reversal', 'return'] as const).map(
          (each) => `${selectSummaries(each)}
            WHERE t.merchant_id = :merchant_id AND t.collection_id = :collection_id`,
        )
      : [
          `${selectSummaries('collection')}
           WHERE t.merchant_id = :merchant_id AND t.id = :collection_id`,
        ];
  return rows<PaymentSummary>(
    database,
    `SELECT * FROM (${parts.join(' UNION ALL ')}) AS related ORDER BY id`,
    { merchant_id, collection_id: kind === 'collection' ? payment.id : payment.collection_id },
  );
}
