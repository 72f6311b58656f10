import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { countUpTo, MAX_COUNT, type Page, type PageRequest, readPage } from '../lists.ts';
import type { MerchantPayment } from '../payments/payment-store.ts';
import { type Period, periodConditions } from '../period.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  LISTED_COLUMNS,
  LISTED_JOINS,
  type ListedDelivery,
  REF_NO,
} from './list-deliveries.ts';
import { ENDING_KINDS } from './prepare-deliveries.ts';

/** A delivery with the number of its event. */
export interface OwnDelivery extends ListedDelivery {
  sequence: number;
}

export interface OwnDeliveryFilter extends Period {
  status?: DeliveryStatus | undefined;
  /** The type of the event, such as `transaction.failed`. */
  event?: string | undefined;
  kind?: (typeof ENDING_KINDS)[number] | undefined;
  ref_no?: string | undefined;
  payment_id?: string | undefined;
  /** Scheme, host and port. */
  endpoint?: string | undefined;
}

/** Reads a page of a merchant's webhooks, newest event first. Counts up to `MAX_COUNT`. */
export function listOwnDeliveries(
  database: Database,
  merchantId: number,
  filter: OwnDeliveryFilter,
  page: PageRequest,
): Promise<Page<OwnDelivery>> {
  const where = ['merchant_id = :merchant_id', ...periodConditions('created_at', filter)];
  if (filter.endpoint) where.push('endpoint = :endpoint');
  if (filter.event) where.push(hasEvent('e.type = :event'));
  if (filter.kind) where.push(hasEvent('e.payment_kind = :kind'));
  if (filter.ref_no) where.push(isOneOf(EVENTS_BY_REF_NO));
  if (filter.payment_id) where.push(isOneOf(EVENTS_BY_PAYMENT));
  const source = {
    columns: `${LISTED_COLUMNS}, e.sequence`,
    table: deliveriesIn(filter.status ? [filter.status] : DELIVERY_STATUSES),
    joins: LISTED_JOINS,
    createdAt: 'created_at',
    id: 'event_id',
    where,
    bindings: { ...filter, merchant_id: merchantId },
    countLimit: MAX_COUNT,
  };
  return readPage(database, source, page);
}

/**
 * Merges the parts that the statuses have in the index `webhook_deliveries_listed`. So the newest of
 * a rare status are found at once, and the newest of all statuses too.
 */
function deliveriesIn(statuses: readonly DeliveryStatus[]): string {
  const parts = statuses.map(
    (status) => `(SELECT * FROM webhook_deliveries
    WHERE merchant_id = :merchant_id AND status = '${status}'
    ORDER BY created_at DESC, event_id DESC)`,
  );
  return `(${parts.join(' UNION ALL ')}) AS deliveries`;
}

function hasEvent(condition: string): string {
  return `EXISTS (SELECT FROM events e
    WHERE e.merchant_id = :merchant_id AND e.id = deliveries.event_id AND ${condition})`;
}

/** As an array: the database guesses that a subquery finds many, and would read all deliveries. */
function isOneOf(events: string): string {
  return `event_id = ANY (ARRAY(${events}))`;
}

const EVENTS_BY_REF_NO = ENDING_KINDS.map(
  (kind) => `SELECT e.id FROM ${STEP_TABLES[kind].table} p
    JOIN events e ON e.merchant_id = p.merchant_id AND e.payment_kind = '${kind}'
      AND e.payment_id = p.id
    WHERE p.merchant_id = :merchant_id AND p.ref_no = :ref_no`,
).join(' UNION ALL ');

const KINDS = ENDING_KINDS.map((kind) => `'${kind}'`).join(', ');

const EVENTS_BY_PAYMENT = `SELECT e.id FROM events e
  WHERE e.merchant_id = :merchant_id AND e.payment_kind IN (${KINDS})
    AND e.payment_id = CAST(:payment_id AS uuid)`;

/** An event as its merchant reads it. */
export interface FeedEvent {
  id: string;
  sequence: number;
  type: string;
  payment_kind: MerchantPayment['kind'];
  payment_id: string;
  ref_no: string | null;
  /** The exact bytes of the webhook. */
  body: string;
  created_at: Date;
}

export interface FeedPage {
  /** How many follow `after`, these included, up to `MAX_COUNT`. */
  count: number;
  events: FeedEvent[];
  /** The number after which the next page begins. Null when there is no more for now. */
  next: number | null;
}

/**
 * Reads a merchant's events with a number above `after`, in the order of their numbers. Events get
 * their numbers after the commit, one dispatcher at a time (`numberEvents`). So none ever appears
 * below a number that was read before, and a reader who remembers the highest one misses none.
 */
export async function readFeed(
  database: Database,
  merchantId: number,
  { after, limit }: { after: number; limit: number },
): Promise<FeedPage> {
  const found = await rows<FeedEvent>(
    database,
    `SELECT e.id, e.sequence, e.type, e.payment_kind, e.payment_id, ${REF_NO} AS ref_no, e.body,
       e.created_at
     FROM events e WHERE e.merchant_id = :merchant_id AND e.sequence > :after
     ORDER BY e.sequence LIMIT :limit`,
    { merchant_id: merchantId, after, limit: limit + 1 },
  );
  if (found.length <= limit) return { count: found.length, events: found, next: null };
  const events = found.slice(0, limit);
  const following = 'FROM events WHERE merchant_id = :merchant_id AND sequence > :after';
  const bindings = { merchant_id: merchantId, after };
  const count = await countUpTo(database, `${following} ORDER BY sequence`, bindings, MAX_COUNT);
  return { count, events, next: events.at(-1)!.sequence };
}
