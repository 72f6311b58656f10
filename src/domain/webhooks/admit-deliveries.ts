import { firstRow, type Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { queued } from '../../jobs/outbox.ts';

/** The parts of the running slots, as divisors. Everyone has at least one slot. */
const ENDPOINT_PART = 8;
/** Of an endpoint whose last attempt timed out: each holds its slot for long. */
const TIMING_OUT_PART = 32;
/** Of a merchant, over all of its endpoints. */
const MERCHANT_PART = 4;
/** Of proven endpoints together, and of doubtful ones together. */
const POOL_PART = 2;

/** A delivery that takes longer makes its endpoint doubtful: it may hang. */
const SLOW_AFTER_MS = 2_000;

/** SQL that is true when a delivery is due. Ordered, so that it reads the index. */
export const HAS_DUE = `(SELECT true FROM webhook_deliveries
  WHERE next_step IS NOT NULL AND admitted_at IS NULL AND next_step_at <= now()
  ORDER BY next_step_at LIMIT 1)`;

/**
 * Admits due deliveries and puts their jobs into the outbox, first attempts before others. What may
 * be under way at once are shares of the slots that run: of an endpoint, of a merchant, and of all
 * doubtful endpoints together. An endpoint is proven while its last attempt succeeded and none takes
 * long. So however many endpoints hang, they leave half of the slots to those that answer. Where the
 * breaker is open, one delivery at a time goes, when a probe is due. Only the holder of the lock
 * `preparing deliveries` may do it: two at once could exceed the shares together.
 * @param slots are those of all workers together. 0 admits none.
 * @returns the number of admitted deliveries.
 */
export async function admitDeliveries(trx: Transaction, slots: number): Promise<number> {
  if (slots === 0) return 0;
  const part = (divisor: number) => Math.max(1, Math.floor(slots / divisor));
  const bindings = {
    slots,
    endpoint_cap: part(ENDPOINT_PART),
    timing_out_cap: part(TIMING_OUT_PART),
    merchant_cap: part(MERCHANT_PART),
    pool: part(POOL_PART),
    slow_after_ms: SLOW_AFTER_MS,
    queue: queueOf('webhook', 'deliver'),
  };
  const row = await firstRow<{ admitted: number }>(trx, ADMIT, bindings, 'fresh');
  return row!.admitted;
}

/** Steps from endpoint to endpoint along the index, so the waiting deliveries are not all read. */
const WAITING = `waiting AS (
    (SELECT merchant_id, endpoint FROM webhook_deliveries
     WHERE next_step IS NOT NULL AND admitted_at IS NULL
     ORDER BY merchant_id, endpoint LIMIT 1)
    UNION ALL
    SELECT next.merchant_id, next.endpoint FROM waiting
    CROSS JOIN LATERAL (
      SELECT merchant_id, endpoint FROM webhook_deliveries d
      WHERE next_step IS NOT NULL AND admitted_at IS NULL
        AND (d.merchant_id, d.endpoint) > (waiting.merchant_id, waiting.endpoint)
      ORDER BY merchant_id, endpoint LIMIT 1
    ) next
  )`;

/** The endpoints with deliveries under way, which are as few as there are slots. */
const BUSY = `busy AS MATERIALIZED (
    SELECT u.merchant_id, u.endpoint, u.under_way,
      u.is_slow OR p.failures IS DISTINCT FROM 0 OR p.last_success_at IS NULL AS is_doubtful
    FROM (
      SELECT merchant_id, endpoint, count(*) AS under_way,
        min(admitted_at) < now() - :slow_after_ms * interval '1 millisecond' AS is_slow
      FROM webhook_deliveries WHERE next_step IS NOT NULL AND admitted_at IS NOT NULL
      GROUP BY merchant_id, endpoint
    ) u LEFT JOIN webhook_endpoints p USING (merchant_id, endpoint)
  )`;

/** How many more deliveries may go to each endpoint. */
const ROOM = `room AS (
    SELECT w.merchant_id, w.endpoint,
      coalesce(b.is_doubtful, p.failures IS DISTINCT FROM 0 OR p.last_success_at IS NULL)
        AS is_doubtful,
      CASE
        WHEN p.breaker = 'open' THEN CASE WHEN p.probe_at <= now() THEN 1 ELSE 0 END
        WHEN p.times_out THEN least(p.concurrency, :timing_out_cap)
        ELSE least(coalesce(p.concurrency, 1), :endpoint_cap)
      END - coalesce(b.under_way, 0) AS free
    FROM waiting w
    LEFT JOIN webhook_endpoints p USING (merchant_id, endpoint)
    LEFT JOIN busy b USING (merchant_id, endpoint)
  )`;

/** Reads the oldest due deliveries of an endpoint that are retries, or that are not. */
function dueOnes(isRetry: boolean): string {
  return `(SELECT d.merchant_id, d.event_id, d.is_retry, d.next_step_at FROM webhook_deliveries d
      WHERE d.merchant_id = room.merchant_id AND d.endpoint = room.endpoint
        AND d.next_step IS NOT NULL AND d.admitted_at IS NULL
        AND d.is_retry = ${isRetry} AND d.next_step_at <= now()
      ORDER BY d.next_step_at LIMIT room.free)`;
}

const ADMIT = `
  WITH RECURSIVE ${WAITING}, ${BUSY}, ${ROOM},
  due AS (
    SELECT due.*, room.is_doubtful,
      row_number() OVER (PARTITION BY due.merchant_id ORDER BY due.is_retry, due.next_step_at)
        AS place
    FROM room
    CROSS JOIN LATERAL (
      SELECT * FROM (${dueOnes(false)} UNION ALL ${dueOnes(true)}) either
      ORDER BY is_retry, next_step_at LIMIT room.free
    ) due
    WHERE room.free > 0
  ), chosen AS (
    -- Merchants take turns, so that one with much to send is not before all others.
    SELECT due.*, row_number() OVER (
        PARTITION BY is_doubtful ORDER BY is_retry, place, next_step_at) AS place_in_pool
    FROM due
    WHERE place <= :merchant_cap - (
      SELECT coalesce(sum(under_way), 0) FROM busy WHERE busy.merchant_id = due.merchant_id)
  ), pools AS (
    SELECT coalesce(sum(under_way), 0) AS all_under_way,
      coalesce(sum(under_way) FILTER (WHERE is_doubtful), 0) AS doubtful_under_way
    FROM busy
  ), moved AS (
    UPDATE webhook_deliveries d
    SET admitted_at = now(), next_step_at = now(), step_no = step_no + 1, step_swept_at = NULL
    FROM chosen, pools
    WHERE d.merchant_id = chosen.merchant_id AND d.event_id = chosen.event_id
      -- It may have changed since it was read.
      AND d.next_step IS NOT NULL AND d.admitted_at IS NULL
      AND chosen.place_in_pool <= least(
        :slots - all_under_way,
        :pool - CASE WHEN is_doubtful THEN doubtful_under_way
          ELSE all_under_way - doubtful_under_way END)
    RETURNING d.*
  ), ${queued('webhook')}
  SELECT count(*) AS admitted FROM moved`;
