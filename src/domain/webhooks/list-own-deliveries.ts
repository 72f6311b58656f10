import type { Database } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { MAX_COUNT, type Page, type PageRequest, readPage } from '../lists.ts';
import { type Period, periodConditions } from '../period.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  LISTED_COLUMNS,
  LISTED_JOINS,
  type ListedDelivery,
} from './list-deliveries.ts';
import { ENDING_KINDS } from './number-events.ts';

/** A delivery with the number of its event. */
export interface OwnDelivery extends ListedDelivery {
  sequence: number;
}

export interface OwnDeliveryFilter extends Period {
  status?: DeliveryStatus | undefined;
  /** What the event says, such as `transaction.failed`. */
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
 * a rare status are found at once, and those of all statuses too.
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
