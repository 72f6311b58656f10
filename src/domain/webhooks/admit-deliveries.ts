import {
  type Database,
  FEW_ROWS,
  firstRow,
  type Plan,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { msUntil, type NextDue, queued } from '../../jobs/outbox.ts';
import { MINUTE_MS } from '../../time.ts';

/** The endpoint's part of the running slots, as a divisor. Each endpoint has at least one slot. */
const ENDPOINT_PART = 8;
/** The part of an endpoint whose last attempt timed out: each attempt holds its slot for long. */
const TIMING_OUT_PART = 32;
/** The part of a merchant's proven endpoints together, and of its doubtful ones together. */
const MERCHANT_PART = 8;
/** The part of all doubtful endpoints together. Proven endpoints get the rest. */
const DOUBTFUL_PART = 2;

/** A delivery that takes longer makes its endpoint doubtful: it may hang. */
const SLOW_AFTER_MS = 2_000;

/** First attempts go before retries, but not before those that have been due for longer. */
const RETRY_PATIENCE_MS = MINUTE_MS;

/** The most endpoints that a round looks at. The next round goes on with the others. */
const MAX_ENDPOINTS = 5_000;

/** The endpoint with which a round ended, if it left some out. */
export interface Walk extends NextDue {
  after: { merchant_id: number; endpoint: string } | null;
}

/** SQL: the time until the first delivery is due, in ms. Ordered, so that it reads the index. */
export const FIRST_DUE_MS = `(SELECT ${msUntil('next_step_at')} FROM webhook_deliveries
  WHERE next_step IS NOT NULL AND admitted_at IS NULL ORDER BY next_step_at LIMIT 1)`;

/** SQL: how many deliveries wait, or one more than few. */
export const WAITING_COUNT = `(SELECT count(*) FROM (
  SELECT FROM webhook_deliveries WHERE next_step IS NOT NULL AND admitted_at IS NULL
  ORDER BY next_step_at LIMIT ${FEW_ROWS + 1}) d)`;

/**
 * Admits due deliveries and puts their jobs into the outbox. An endpoint, a
 * merchant, and all doubtful endpoints together each have a share of the slots that run. An endpoint is proven while its last attempt succeeded and none takes long. So endpoints
 * that hang leave half of the slots to those that answer; proven ones that begin to hang are known
 * after two seconds. Where the breaker is open, one delivery at a time goes, when a probe is due.
 * Only the holder of the lock `preparing deliveries` may do it: two at once could exceed the shares
 * together.
 * @param slots are the slots of all workers together. 0 admits no delivery.
 * @param walk is where the round begins, and afterwards where the next one does.
 * @param plan is 'kept' only where few deliveries wait.
 * @returns the number of admitted deliveries.
 */
export async function admitDeliveries(
  trx: Transaction,
  slots: number,
  walk: Walk = { after: null, inMs: null },
  plan: Plan = 'fresh',
): Promise<number> {
  if (slots === 0) return 0;
  const part = (divisor: number) => Math.max(1, Math.floor(slots / divisor));
  const doubtful_pool = part(DOUBTFUL_PART);
  const bindings = {
    slots,
    doubtful_pool,
    proven_pool: Math.max(1, slots - doubtful_pool),
    endpoint_cap: part(ENDPOINT_PART),
    timing_out_cap: part(TIMING_OUT_PART),
    merchant_cap: part(MERCHANT_PART),
    slow_after_ms: SLOW_AFTER_MS,
    patience_ms: RETRY_PATIENCE_MS,
    max_endpoints: MAX_ENDPOINTS,
    after_merchant: walk.after?.merchant_id ?? 0,
    after_endpoint: walk.after?.endpoint ?? '',
    queue: queueOf('webhook', 'deliver'),
  };
  const row = (await firstRow<Admitted>(trx, ADMIT, bindings, plan))!;
  const { last_merchant: merchant_id, last_endpoint: endpoint } = row;
  walk.after = merchant_id !== null && endpoint !== null ? { merchant_id, endpoint } : null;
  return row.admitted;
}

interface Admitted {
  admitted: number;
  /** Null when the round has seen all endpoints to the end. */
  last_merchant: number | null;
  last_endpoint: string | null;
}

/** Steps from endpoint to endpoint along the index, so the waiting deliveries are not all read. */
const WAITING = `waiting AS (
    (SELECT merchant_id, endpoint, 1 AS number FROM webhook_deliveries d
     WHERE next_step IS NOT NULL AND admitted_at IS NULL
       AND (d.merchant_id, d.endpoint) > (:after_merchant, :after_endpoint)
     ORDER BY merchant_id, endpoint LIMIT 1)
    UNION ALL
    SELECT next.merchant_id, next.endpoint, number + 1 FROM waiting
    CROSS JOIN LATERAL (
      SELECT merchant_id, endpoint FROM webhook_deliveries d
      WHERE next_step IS NOT NULL AND admitted_at IS NULL
        AND (d.merchant_id, d.endpoint) > (waiting.merchant_id, waiting.endpoint)
      ORDER BY merchant_id, endpoint LIMIT 1
    ) next
    WHERE number < :max_endpoints
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
      END - coalesce(b.under_way, 0) AS free,
      p.probe_at
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

/** A probe is no retry, and is due when the probe is: however long its delivery has waited. */
const DUE = `due AS (
    SELECT due.merchant_id, due.event_id, room.is_doubtful, rank.is_retry, rank.due_at,
      row_number() OVER (PARTITION BY due.merchant_id, room.is_doubtful
          ORDER BY rank.is_retry, rank.due_at)
        + (SELECT coalesce(sum(under_way), 0) FROM busy
           WHERE busy.merchant_id = due.merchant_id AND busy.is_doubtful = room.is_doubtful)
        AS place
    FROM room
    CROSS JOIN LATERAL (
      SELECT * FROM (${dueOnes(false)} UNION ALL ${dueOnes(true)}) either
      ORDER BY is_retry, next_step_at LIMIT room.free
    ) due
    CROSS JOIN LATERAL (
      SELECT greatest(due.next_step_at, room.probe_at) AS due_at,
        due.is_retry AND room.probe_at IS NULL
          AND due.next_step_at > now() - :patience_ms * interval '1 millisecond' AS is_retry
    ) rank
    WHERE room.free > 0
  )`;

const ADMIT = `
  WITH RECURSIVE ${WAITING}, ${BUSY}, ${ROOM}, ${DUE},
  chosen AS (
    -- Merchants take turns, counting what they have under way: none is before all others.
    SELECT due.*, row_number() OVER (
        PARTITION BY is_doubtful ORDER BY is_retry, place, due_at) AS place_in_pool
    FROM due WHERE place <= :merchant_cap
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
        CASE WHEN is_doubtful THEN :doubtful_pool - doubtful_under_way
          ELSE :proven_pool - (all_under_way - doubtful_under_way) END)
    RETURNING d.*
  ), ${queued('webhook')}
  SELECT (SELECT count(*) FROM moved) AS admitted,
    last.merchant_id AS last_merchant, last.endpoint AS last_endpoint
  FROM (SELECT 1) one
  LEFT JOIN waiting last ON last.number = :max_endpoints`;

/** The interval at which a worker says that it runs. */
export const ANNOUNCE_INTERVAL_MS = 5_000;

/** A worker that was not seen for this long is gone, or too busy to send anything. */
const GONE_AFTER_MS = 3 * ANNOUNCE_INTERVAL_MS;

/** SQL: the deliveries that all webhook workers together can have under way. Null without one. */
export const RUNNING_SLOTS = `(SELECT sum(slots)::integer FROM webhook_workers
  WHERE seen_at > now() - ${GONE_AFTER_MS} * interval '1 millisecond')`;

/** Records that a worker runs with this many slots, and removes workers that have gone. */
export async function announceWorker(
  database: Database,
  worker: { id: string; slots: number },
): Promise<void> {
  await rows(
    database,
    `WITH gone AS (
       DELETE FROM webhook_workers
       WHERE seen_at < now() - :gone_after_ms * interval '1 millisecond' AND id <> :id
     )
     INSERT INTO webhook_workers (id, slots) VALUES (:id, :slots)
     ON CONFLICT (id) DO UPDATE SET slots = :slots, seen_at = clock_timestamp()`,
    { ...worker, gone_after_ms: GONE_AFTER_MS },
  );
}

/** Says that a worker has stopped. */
export async function withdrawWorker(database: Database, id: string): Promise<void> {
  await rows(database, 'DELETE FROM webhook_workers WHERE id = :id', { id });
}
