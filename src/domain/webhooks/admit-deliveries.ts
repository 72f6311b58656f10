import { firstRow, type Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { queued } from '../../jobs/outbox.ts';

/** The endpoints of a merchant together may have this many times the cap under way. */
const MERCHANT_SHARE = 2;

/** SQL that is true when a delivery is due. Ordered, so that it reads the index. */
export const HAS_DUE = `(SELECT true FROM webhook_deliveries
  WHERE next_step IS NOT NULL AND admitted_at IS NULL AND next_step_at <= now()
  ORDER BY next_step_at LIMIT 1)`;

/**
 * Admits due deliveries, oldest first, and puts their jobs into the outbox. At most `cap`
 * deliveries are under way per merchant and endpoint. So an endpoint that hangs delays its own
 * deliveries only. Only the holder of the lock `preparing deliveries` may do it: two at once could
 * exceed the cap together.
 * @returns the number of admitted deliveries.
 */
export async function admitDeliveries(trx: Transaction, cap: number): Promise<number> {
  const bindings = {
    cap,
    merchant_cap: cap * MERCHANT_SHARE,
    queue: queueOf('webhook', 'deliver'),
  };
  const row = await firstRow<{ admitted: number }>(trx, ADMIT, bindings, 'fresh');
  return row!.admitted;
}

/** Steps from endpoint to endpoint along the index, so the waiting deliveries are not all read. */
const ADMIT = `
  WITH RECURSIVE endpoint AS (
    (SELECT merchant_id, endpoint FROM webhook_deliveries
     WHERE next_step IS NOT NULL AND admitted_at IS NULL
     ORDER BY merchant_id, endpoint LIMIT 1)
    UNION ALL
    SELECT next.merchant_id, next.endpoint FROM endpoint
    CROSS JOIN LATERAL (
      SELECT merchant_id, endpoint FROM webhook_deliveries d
      WHERE next_step IS NOT NULL AND admitted_at IS NULL
        AND (d.merchant_id, d.endpoint) > (endpoint.merchant_id, endpoint.endpoint)
      ORDER BY merchant_id, endpoint LIMIT 1
    ) next
  ), due AS (
    SELECT due.merchant_id, due.event_id,
      row_number() OVER (PARTITION BY due.merchant_id ORDER BY due.next_step_at) AS place
    FROM endpoint
    CROSS JOIN LATERAL (
      SELECT count(*) AS under_way FROM webhook_deliveries d
      WHERE d.merchant_id = endpoint.merchant_id AND d.endpoint = endpoint.endpoint
        AND d.next_step IS NOT NULL AND d.admitted_at IS NOT NULL
    ) busy
    CROSS JOIN LATERAL (
      SELECT d.merchant_id, d.event_id, d.next_step_at FROM webhook_deliveries d
      WHERE d.merchant_id = endpoint.merchant_id AND d.endpoint = endpoint.endpoint
        AND d.next_step IS NOT NULL AND d.admitted_at IS NULL AND d.next_step_at <= now()
      ORDER BY d.next_step_at
      LIMIT greatest(0, :cap - busy.under_way)
    ) due
  ), moved AS (
    UPDATE webhook_deliveries d
    SET admitted_at = now(), next_step_at = now(), step_no = step_no + 1, step_swept_at = NULL
    FROM due WHERE d.merchant_id = due.merchant_id AND d.event_id = due.event_id
      -- It may have changed since it was read.
      AND d.next_step IS NOT NULL AND d.admitted_at IS NULL
      AND due.place <= :merchant_cap - (
        SELECT count(*) FROM webhook_deliveries a
        WHERE a.merchant_id = due.merchant_id AND a.next_step IS NOT NULL
          AND a.admitted_at IS NOT NULL)
    RETURNING d.*
  ), ${queued('webhook')}
  SELECT count(*) AS admitted FROM moved`;
