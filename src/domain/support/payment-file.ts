import { type Database, inSnapshot, rows, type Transaction } from '../../connections/database.ts';
import { type AskerNames, askerNames } from '../access/asker.ts';
import { type AuditRecord, listAudit } from '../audit/audit-log.ts';
import { type ChannelPause, channelPauses, pausableOf } from '../channels/channel-store.ts';
import { OPERATOR } from '../ledger/post-journal.ts';
import { type OutgoingHold, outgoingHoldOf } from '../merchants/outgoing-hold.ts';
import {
  type AnyPayment,
  findPayment,
  OF_PAYMENT,
  type PaymentRef,
} from '../payments/payment-store.ts';
import { type PaymentSummary, selectSummaries } from '../payments/payment-summary.ts';
import { IS_UNSURE } from '../settlement/sources.ts';
import { casesOf, type DiscrepancyCase } from './discrepancy-cases.ts';
import { type FailedJob, listFailedJobs } from './failed-job-store.ts';
import { type OutboxRow, outboxOf, type PaymentStep, stepsOf } from './payment-steps.ts';

/** A payment with more was replayed in vain for a long time. */
const MAX_FAILED_JOBS = 100;
/** A payment with more has been worked on by hand for a long time. */
const MAX_DECISIONS = 100;

/** A row as it is stored. */
export type Row = Record<string, unknown>;

/** Everything that the database has about one payment. */
export interface PaymentFile {
  payment: AnyPayment;
  /** Why it is not sent because of its merchant, if that is what it waits for. */
  hold: OutgoingHold | null;
  /** The pause of its channel, if it waits to be sent. */
  pause: ChannelPause | null;
  /** The names of who asked for it; all null when no request did. */
  askedBy: AskerNames;
  /** The steps that the payment, its callbacks and its deliveries wait for. */
  steps: PaymentStep[];
  outbox: OutboxRow[];
  history: Row[];
  attempts: Row[];
  /** Each with what has become of its money in `booked`. */
  movements: Row[];
  /** Its own movements, and the movements of its returns. */
  journals: JournalRow[];
  /** The events for its merchant, each with its delivery. A corrected end has more than one. */
  events: Row[];
  deliveryAttempts: Row[];
  callbacks: Row[];
  /** Failed jobs of the payment, its callbacks and its webhook. */
  failedJobs: FailedJob[];
  discrepancies: DiscrepancyCase[];
  /** The audit lines about the payment, its discrepancies, failed jobs and webhooks. */
  decisions: AuditRecord[];
  /** The collection that it gives back, or a collection's reversals and returns. */
  related: PaymentSummary[];
}

/** Reads the file of a payment. @returns undefined when there is no such payment. */
export function readPaymentFile(
  database: Database,
  ref: PaymentRef,
): Promise<PaymentFile | undefined> {
  // One part must not know more than another: a page would stop refreshing itself too early.
  return inSnapshot(database, (trx) => readAll(trx, ref));
}

async function readAll(database: Transaction, ref: PaymentRef): Promise<PaymentFile | undefined> {
  const payment = await findPayment(database, ref);
  if (!payment) return undefined;
  const own = <Found = Row>(select: string, order = '') =>
    rows<Found>(database, `${select} WHERE ${OF_PAYMENT} ${order}`, ref);
  // One after the other, since they share the connection of the transaction.
  const events = await rows<Row>(database, EVENTS, ref);
  const related = await relatedTo(database, payment);
  const discrepancies = await casesOf(database, ref);
  const failedJobs = await listFailedJobs(
    database,
    { payments: [payment] },
    { order: 'oldest first', limit: MAX_FAILED_JOBS },
  );
  const isToBeSent = payment.next_step === 'submit';
  return {
    payment,
    hold: isToBeSent ? await outgoingHoldOf(database, payment) : null,
    pause: isToBeSent ? await pauseOf(database, payment) : null,
    askedBy: await askerNames(database, payment),
    steps: await stepsOf(database, ref),
    outbox: await outboxOf(database, ref),
    history: await own(
      'SELECT from_status, to_status, cause, happened_at FROM payment_history',
      'ORDER BY happened_at',
    ),
    attempts: await own(
      'SELECT attempt_no, result, detail, not_found_count, started_at, answered_at FROM attempts',
      'ORDER BY attempt_no',
    ),
    movements: await own(MOVEMENTS, 'ORDER BY learned_at, id'),
    journals: await journalsOfAll(database, [ref, ...returnsIn(related)]),
    events,
    deliveryAttempts: await rows(database, DELIVERY_ATTEMPTS, ref),
    callbacks: await own(
      'SELECT id, received_at, status, problem, parked_reason, body FROM callbacks',
      'ORDER BY received_at, id',
    ),
    failedJobs,
    discrepancies,
    decisions: await listAudit(database, {
      subjects: [
        `${ref.kind} ${ref.id}`,
        ...discrepancies.map(({ id }) => `discrepancy ${id}`),
        ...failedJobs.map(({ id }) => `failed job ${id}`),
        ...events.map(({ id }) => `webhook ${id}`),
      ],
      after: undefined,
      limit: MAX_DECISIONS,
    }),
    related,
  };
}

async function pauseOf(database: Database, payment: AnyPayment): Promise<ChannelPause | null> {
  const pause = (await channelPauses(database)).get(payment.channel);
  const part = pausableOf(payment.kind);
  return pause && (pause.what === null || (part !== null && pause.what.includes(part)))
    ? pause
    : null;
}

/** Money that has left suspense was given back, unless it was written off. */
const MOVEMENTS = `
  SELECT id, trans_id, amount_cents, account, completed_at, ${IS_UNSURE} AS is_unsure,
    CASE
      WHEN booked <> 'cleared' THEN booked
      WHEN EXISTS (
        SELECT FROM journals j JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
        WHERE j.merchant_id = m.merchant_id AND j.source_kind = 'movement' AND j.source_id = m.id
          AND e.account = 'losses') THEN 'written_off'
      ELSE 'returned'
    END AS booked, learned_at
  FROM movements m`;

const EVENTS = `
  SELECT e.id, e.type, callback_url, sequence, e.created_at, d.status, d.attempts, d.delivered_at,
    d.next_step_at, d.parked_reason, d.endpoint, coalesce(p.breaker = 'open', false) AS is_held
  FROM (SELECT * FROM events WHERE ${OF_PAYMENT}) e
  LEFT JOIN webhook_deliveries d ON d.merchant_id = e.merchant_id AND d.event_id = e.id
  LEFT JOIN webhook_endpoints p ON p.merchant_id = d.merchant_id AND p.endpoint = d.endpoint
  ORDER BY change_no`;

const DELIVERY_ATTEMPTS = `
  SELECT a.event_id, a.attempt_no, a.response_status, coalesce(a.reason, a.error) AS error,
    a.duration_ms, a.attempted_at
  FROM (SELECT * FROM events WHERE ${OF_PAYMENT}) e
  JOIN webhook_attempts a ON a.merchant_id = e.merchant_id AND a.event_id = e.id
  ORDER BY a.attempted_at`;

function returnsIn(related: PaymentSummary[]): PaymentRef[] {
  return related.filter(({ kind }) => kind === 'return');
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

/** A journal with its lines in cents. Positive is the merchant's gain. */
export interface JournalRow {
  id: string;
  source_kind: string;
  kind: string;
  created_at: Date;
  entries: { account: string; amount_cents: number }[];
}

/**
 * Reads the journals of a payment, oldest first: its own, its movements', those that take back
 * charges, and the journals of the movements that its discrepancies are about.
 */
export function journalsOf(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<JournalRow[]> {
  return rows<JournalRow>(
    database,
    `WITH source AS (
       SELECT CAST(:kind AS text) AS kind, CAST(:id AS uuid) AS id,
         CAST(:merchant_id AS bigint) AS merchant_id
       UNION SELECT 'movement', id, merchant_id FROM movements WHERE ${OF_PAYMENT}
       UNION SELECT 'movement', movement_id, merchant_id FROM discrepancies
         WHERE ${OF_PAYMENT} AND movement_id IS NOT NULL
       -- A run of the charges that takes back a movement's has the movement's id, and is the operator's.
       UNION SELECT 'charge_run', id, ${OPERATOR} FROM movements
         WHERE ${OF_PAYMENT} AND booked = 'undone'
       -- Money that was adopted before the payment came, maybe for another merchant.
       UNION SELECT 'adjustment', CAST(details->>'adoption' AS uuid),
           CAST(details->>'adopted_for' AS bigint) FROM discrepancies
         WHERE ${OF_PAYMENT} AND details->>'adoption' IS NOT NULL
     )
     SELECT j.id, j.source_kind, j.kind, j.created_at,
       jsonb_agg(jsonb_build_object('account', e.account, 'amount_cents', e.amount_cents)
         ORDER BY e.line) AS entries
     FROM source s
     JOIN journals j ON j.merchant_id = s.merchant_id AND j.source_kind = s.kind
       AND j.source_id = s.id
     JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
     GROUP BY j.merchant_id, j.id ORDER BY j.created_at, j.id`,
    payment,
  );
}

/** Reads the journals of several payments, oldest first. Two may share one, of a movement of both. */
async function journalsOfAll(database: Database, payments: PaymentRef[]): Promise<JournalRow[]> {
  const byId = new Map<JournalRow['id'], JournalRow>();
  for (const payment of payments) {
    for (const journal of await journalsOf(database, payment)) byId.set(journal.id, journal);
  }
  return [...byId.values()].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ created_at, id }: JournalRow): string {
  return `${created_at.toISOString()} ${id}`;
}
