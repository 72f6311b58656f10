import { type Database, firstRow, rows } from '../../connections/database.ts';
import type { Endpoint } from './endpoint.ts';

/** The states of an endpoint. States that need a person come first. */
export const ENDPOINT_STATES = ['held', 'failing', 'working'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** An endpoint of a merchant, as support sees it. It is listed from its first attempt on. */
export interface SupportEndpoint {
  state: EndpointState;
  merchant_id: number;
  /** Scheme, host and port. */
  endpoint: string;
  /** Null when the last attempt did not fail. */
  failing_since: Date | null;
  /** The last failure, also of one that works: the status of the answer, or the error without one. */
  last_status: number | null;
  last_error: string | null;
  last_failure_at: Date | null;
  last_success_at: Date | null;
  /** The deliveries that wait for a place, for their time or for the endpoint to work. */
  waiting: number;
  /** Null unless the endpoint is held. */
  next_probe_at: Date | null;
}

/** Names an endpoint in the order of the list. */
export type EndpointKey = Pick<SupportEndpoint, 'state' | 'merchant_id' | 'endpoint'>;

export interface EndpointFilter {
  merchant_id?: number | undefined;
  /** Only this one: scheme, host and port. */
  endpoint?: string | undefined;
  state?: EndpointState | undefined;
  /** The most waiting deliveries to count for each endpoint. Undefined: count all. */
  countUpTo?: number | undefined;
  /** Begins after this one. */
  after?: EndpointKey | undefined;
  limit: number;
}

/** SQL: the place of the state of an endpoint `p` in `ENDPOINT_STATES`, from 1 on. */
const RANK = `CASE WHEN p.breaker = 'open' THEN 1 WHEN p.failures > 0 THEN 2 ELSE 3 END`;

/** SQL: the deliveries that wait for an endpoint `p`, counted up to `:most`. */
const WAITING = `(SELECT count(*) FROM (
  SELECT 1 FROM webhook_deliveries d
  WHERE d.merchant_id = p.merchant_id AND d.endpoint = p.endpoint
    AND d.next_step IS NOT NULL AND d.admitted_at IS NULL LIMIT :most) w)`;

/** Lists endpoints of all merchants, by state and then by merchant. */
export async function listAllEndpoints(
  database: Database,
  { merchant_id, endpoint, state, countUpTo, after, limit }: EndpointFilter,
): Promise<SupportEndpoint[]> {
  const found = await rows<SupportEndpoint & { rank: number }>(database, LIST, {
    limit,
    merchant_id: merchant_id ?? null,
    endpoint: endpoint ?? null,
    most: countUpTo ?? null,
    rank: state ? rankOf(state) : null,
    after_rank: after ? rankOf(after.state) : 0,
    after_merchant: after?.merchant_id ?? 0,
    after_endpoint: after?.endpoint ?? '',
  });
  return found.map(withState);
}

const LIST = `
  SELECT p.rank, p.merchant_id, p.endpoint, p.failing_since, p.last_status, p.last_error,
    p.last_failure_at, p.last_success_at, p.probe_at AS next_probe_at,
    ${WAITING} AS waiting
  FROM (SELECT p.*, ${RANK} AS rank FROM webhook_endpoints p) p
  WHERE p.merchant_id = coalesce(CAST(:merchant_id AS bigint), p.merchant_id)
    AND p.endpoint = coalesce(CAST(:endpoint AS text), p.endpoint)
    AND p.rank = coalesce(CAST(:rank AS integer), p.rank)
    AND (p.rank, p.merchant_id, p.endpoint)
      > (CAST(:after_rank AS integer), CAST(:after_merchant AS bigint), CAST(:after_endpoint AS text))
  ORDER BY p.rank, p.merchant_id, p.endpoint LIMIT :limit`;

function rankOf(state: EndpointState): number {
  return ENDPOINT_STATES.indexOf(state) + 1;
}

function withState<Row>({ rank, ...row }: Row & { rank: number }) {
  return { ...row, state: ENDPOINT_STATES[rank - 1]! };
}

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
    rows: found.map(withState),
    next: offset + found.length < count ? 'plain' : null,
  };
}

const PAGE = `
  SELECT p.rank, p.endpoint, p.concurrency, p.failures, p.failing_since, p.last_status,
    p.last_error, p.last_failure_at, p.last_success_at, p.opened_at, p.probe_at,
    ${WAITING} AS waiting
  FROM (
    SELECT p.*, ${RANK} AS rank FROM webhook_endpoints p WHERE p.merchant_id = :merchant_id
    ORDER BY rank, p.endpoint LIMIT :limit OFFSET :offset
  ) AS p
  ORDER BY p.rank, p.endpoint`;
