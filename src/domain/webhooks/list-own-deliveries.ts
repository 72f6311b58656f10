import { type Database, firstRow, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { MAX_COUNT, type Page, type PageRequest, readPage } from '../lists.ts';
import { type Period, periodConditions } from '../period.ts';
import { ENDPOINT_STATES, type EndpointState, RANK } from './all-endpoints.ts';
import type { Endpoint } from './endpoint.ts';
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

/** The deliveries that wait for one endpoint are counted up to here. */
export const MAX_WAITING_COUNTED = 1_000;

type Shown =
  | 'concurrency'
  | 'failures'
  | 'failing_since'
  | 'last_status'
  | 'last_error'
  | 'last_failure_at'
  | 'last_success_at'
  | 'opened_at'
  | 'probe_at';

/** An endpoint as its merchant sees it. */
export interface OwnEndpoint extends Pick<Endpoint, Shown> {
  endpoint: string;
  state: EndpointState;
  /** Deliveries without an attempt under way, up to `MAX_WAITING_COUNTED`. */
  waiting: number;
}

/**
 * Reads a page of a merchant's endpoints, those that do not work first. An endpoint is known from
 * its first attempt on.
 */
export async function listOwnEndpoints(
  database: Database,
  merchant_id: number,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ count: number; rows: OwnEndpoint[]; next: 'plain' | null }> {
  const offset = (page - 1) * pageSize;
  const total = await firstRow<{ count: number }>(
    database,
    'SELECT count(*) AS count FROM webhook_endpoints WHERE merchant_id = :merchant_id',
    { merchant_id },
  );
  const bindings = { merchant_id, limit: pageSize, offset, most: MAX_WAITING_COUNTED };
  const found = await rows<OwnEndpoint & { rank: number }>(database, PAGE, bindings);
  const { count } = total!;
  return {
    count,
    rows: found.map(({ rank, ...row }) => ({ ...row, state: ENDPOINT_STATES[rank - 1]! })),
    next: offset + found.length < count ? 'plain' : null,
  };
}

const PAGE = `
  SELECT p.rank, p.endpoint, p.concurrency, p.failures, p.failing_since, p.last_status,
    p.last_error, p.last_failure_at, p.last_success_at, p.opened_at, p.probe_at, (
      SELECT count(*) FROM (
        SELECT FROM webhook_deliveries d
        WHERE d.merchant_id = p.merchant_id AND d.endpoint = p.endpoint
          AND d.next_step IS NOT NULL AND d.admitted_at IS NULL
        LIMIT :most
      ) AS counted
    ) AS waiting
  FROM (
    SELECT p.*, ${RANK} AS rank FROM webhook_endpoints p WHERE p.merchant_id = :merchant_id
    ORDER BY rank, p.endpoint LIMIT :limit OFFSET :offset
  ) AS p
  ORDER BY p.rank, p.endpoint`;
