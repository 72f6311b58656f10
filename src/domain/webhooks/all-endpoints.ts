import { type Database, rows } from '../../connections/database.ts';

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
export const RANK = `CASE WHEN p.breaker = 'open' THEN 1 WHEN p.failures > 0 THEN 2 ELSE 3 END`;

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
  return found.map(({ rank, ...row }) => ({ ...row, state: ENDPOINT_STATES[rank - 1]! }));
}

const LIST = `
  SELECT p.rank, p.merchant_id, p.endpoint, p.failing_since, p.last_status, p.last_error,
    p.last_failure_at, p.last_success_at, p.probe_at AS next_probe_at,
    (SELECT count(*) FROM (
       SELECT 1 FROM webhook_deliveries d
       WHERE d.merchant_id = p.merchant_id AND d.endpoint = p.endpoint
         AND d.next_step IS NOT NULL AND d.admitted_at IS NULL LIMIT :most) w) AS waiting
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
