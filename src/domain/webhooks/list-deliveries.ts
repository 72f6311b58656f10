import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { countUpTo } from '../lists.ts';
import type { MerchantPayment, PaymentRef } from '../payments/payment-store.ts';
import { ENDING_KINDS } from './prepare-deliveries.ts';

/** The deliveries that have not ended with an answer 2xx. One sent again may have had it before. */
export const UNDELIVERED = ['exhausted', 'stopped', 'pending'] as const;
export const DELIVERY_STATUSES = [...UNDELIVERED, 'delivered'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery of an event, with its last attempt. */
export interface ListedDelivery {
  /** The event's, which the merchant knows as `webhook-id`. */
  id: string;
  merchant_id: number;
  payment_kind: MerchantPayment['kind'];
  payment_id: string;
  ref_no: string | null;
  type: string;
  callback_url: string;
  status: DeliveryStatus;
  attempts: number;
  /** The first time that the receiver took it, also if it was sent again since. */
  delivered_at: Date | null;
  /** All null when there was no attempt, or when retention has removed it. */
  last_status: number | null;
  last_error: string | null;
  last_attempt_at: Date | null;
  next_attempt_at: Date | null;
  parked_reason: string | null;
  created_at: Date;
}

export interface DeliveryFilter {
  /** Undefined: all of them. Only for the deliveries of `payments`: most are delivered. */
  status?: DeliveryStatus | undefined;
  merchant_id?: number | undefined;
  /** Only those to this scheme, host and port. */
  endpoint?: string | undefined;
  /** Only those whose event came at this time or later. */
  since?: Date | undefined;
  /** Only those whose event came before this time. */
  until?: Date | undefined;
  /** Only what was told of these. */
  payments?: PaymentRef[] | undefined;
  /** Begins after this one, in the order of the list. */
  after?: string | undefined;
  limit: number;
}

/** Worded as the conditions of the indexes: most deliveries are delivered. */
const CONDITIONS: Readonly<Record<DeliveryStatus, string>> = {
  exhausted: `status = 'exhausted'`,
  stopped: `status = 'stopped'`,
  pending: `(next_step IS NOT NULL AND admitted_at IS NULL
    OR next_step IS NOT NULL AND admitted_at IS NOT NULL OR parked_reason IS NOT NULL)`,
  delivered: `status = 'delivered'`,
};

/**
 * Keeps the planner from looking for the pending deliveries of a merchant among all of its own, in
 * the order of the list. They are mostly the newest, so it would read nearly all first.
 */
const APART = 'OFFSET 0';

/** The event of a delivery has come in the period. */
const IN_PERIOD = `EXISTS (
  SELECT FROM events e WHERE e.merchant_id = listed.merchant_id AND e.id = listed.event_id
    AND e.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
    AND e.created_at < coalesce(CAST(:until AS timestamptz), 'infinity'))`;

/** Reads the deliveries by the events of their payments. */
const OF_PAYMENTS = `(
  SELECT d.* FROM unnest(CAST(:merchant_ids AS bigint[]), CAST(:payment_kinds AS text[]),
    CAST(:payment_ids AS uuid[])) AS p (merchant_id, payment_kind, payment_id)
  JOIN events e ON e.merchant_id = p.merchant_id AND e.payment_kind = p.payment_kind
    AND e.payment_id = p.payment_id
  JOIN webhook_deliveries d ON d.merchant_id = e.merchant_id AND d.event_id = e.id
)`;

/** SQL: the ref_no of the payment of an event `e`. */
export const REF_NO = `CASE e.payment_kind ${ENDING_KINDS.map(
  (kind) => `WHEN '${kind}' THEN (SELECT p.ref_no FROM ${STEP_TABLES[kind].table} p
    WHERE p.merchant_id = e.merchant_id AND p.id = e.payment_id)`,
).join(' ')} END`;

/** SQL: the columns of a ListedDelivery, from deliveries named `listed` and LISTED_JOINS. */
export const LISTED_COLUMNS = `e.id, e.merchant_id, e.payment_kind, e.payment_id,
  ${REF_NO} AS ref_no, e.type, e.callback_url, listed.status, listed.attempts, listed.delivered_at,
  a.response_status AS last_status, a.error AS last_error, a.attempted_at AS last_attempt_at,
  listed.next_step_at AS next_attempt_at, listed.parked_reason, e.created_at`;

/** SQL: the event and the last attempt of each delivery. */
export const LISTED_JOINS = `
  JOIN events e ON e.merchant_id = listed.merchant_id AND e.id = listed.event_id
  LEFT JOIN LATERAL (
    SELECT response_status, error, attempted_at FROM webhook_attempts
    WHERE merchant_id = listed.merchant_id AND event_id = listed.event_id
    ORDER BY attempted_at DESC LIMIT 1
  ) AS a ON true`;

/** Lists webhooks of all merchants, oldest event first. Ids sort by time. */
export function listDeliveries(
  database: Database,
  filter: DeliveryFilter,
): Promise<ListedDelivery[]> {
  const { status, merchant_id, endpoint, since, until, payments, after } = filter;
  const where = [
    ...(status === undefined ? [] : [CONDITIONS[status]]),
    ...(merchant_id === undefined ? [] : ['merchant_id = :merchant_id']),
    ...(endpoint === undefined ? [] : ['endpoint = :endpoint']),
    ...(since === undefined && until === undefined ? [] : [IN_PERIOD]),
    ...(after === undefined ? [] : ['event_id > CAST(:after AS uuid)']),
  ];
  return rows<ListedDelivery>(
    database,
    `SELECT ${LISTED_COLUMNS}
     FROM (
       SELECT * FROM (
         SELECT * FROM ${payments ? OF_PAYMENTS : 'webhook_deliveries'} AS listed
         WHERE ${where.join(' AND ') || 'true'} ${status === 'pending' ? APART : ''}
       ) AS listed ORDER BY event_id LIMIT :limit
     ) AS listed ${LISTED_JOINS}
     ORDER BY e.id`,
    {
      ...filter,
      since: since ?? null,
      until: until ?? null,
      merchant_ids: payments?.map((payment) => payment.merchant_id),
      payment_kinds: payments?.map(({ kind }) => kind),
      payment_ids: payments?.map(({ id }) => id),
    },
  );
}

/** Counts the webhooks that were given up and that no receiver has ever taken, up to `most`. */
export function countExhausted(database: Database, most: number): Promise<number> {
  const exhausted = `FROM webhook_deliveries WHERE ${CONDITIONS.exhausted} AND delivered_at IS NULL`;
  return countUpTo(database, exhausted, {}, most);
}
