import { type Database, firstRow, rows } from '../../connections/database.ts';
import type { Endpoint } from './endpoint.ts';

/** The deliveries that wait for one endpoint are counted up to here. */
export const MAX_WAITING_COUNTED = 1_000;

/** An endpoint with what waits for it. */
export interface ListedEndpoint
  extends Omit<Endpoint, 'times_out' | 'probes' | 'told_exhausted_at'> {
  endpoint: string;
  /** Deliveries without an attempt under way, up to `MAX_WAITING_COUNTED`. */
  waiting: number;
}

/**
 * Reads a page of a merchant's endpoints, those that do not work first. An endpoint is known from
 * its first attempt on.
 */
export async function listEndpoints(
  database: Database,
  merchantId: number,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ count: number; rows: ListedEndpoint[]; next: 'plain' | null }> {
  const offset = (page - 1) * pageSize;
  const total = await firstRow<{ count: number }>(
    database,
    'SELECT count(*) AS count FROM webhook_endpoints WHERE merchant_id = :merchant_id',
    { merchant_id: merchantId },
  );
  const found = await rows<ListedEndpoint>(database, PAGE, {
    merchant_id: merchantId,
    limit: pageSize,
    offset,
    most: MAX_WAITING_COUNTED,
  });
  const { count } = total!;
  return { count, rows: found, next: offset + found.length < count ? 'plain' : null };
}

const PAGE = `
  SELECT p.endpoint, p.breaker, p.concurrency, p.failures, p.failing_since, p.last_status,
    p.last_error, p.last_failure_at, p.last_success_at, p.opened_at, p.probe_at, (
      SELECT count(*) FROM (
        SELECT FROM webhook_deliveries d
        WHERE d.merchant_id = p.merchant_id AND d.endpoint = p.endpoint
          AND d.next_step IS NOT NULL AND d.admitted_at IS NULL
        LIMIT :most
      ) AS counted
    ) AS waiting
  FROM (
    SELECT * FROM webhook_endpoints WHERE merchant_id = :merchant_id
    ORDER BY breaker = 'open' DESC, failures > 0 DESC, endpoint LIMIT :limit OFFSET :offset
  ) AS p
  ORDER BY p.breaker = 'open' DESC, p.failures > 0 DESC, p.endpoint`;
