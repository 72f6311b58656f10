import { type Database, firstRow, rows } from '../../connections/database.ts';
import { ENDPOINT_STATES, type EndpointState, RANK } from './all-endpoints.ts';
import type { Endpoint } from './endpoint.ts';

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
