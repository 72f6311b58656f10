import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts';
import type { EndpointRef } from './endpoint-store.ts';

/** An outage that comes back within this time is the same one: nobody is told twice. */
const SETTLES_MS = 10 * MINUTE_MS;

/** That deliveries were given up is told once in an outage. Of others, so often. */
const EXHAUSTED_AGAIN_MS = DAY_MS;

/**
 * Records that an outage has begun or ended, to be told. It ends when the endpoint has stayed well
 * for ten minutes: a failure before takes the notice back, and goes on with the old outage.
 */
export async function addNotice(
  trx: Transaction,
  ref: EndpointRef,
  kind: 'failing' | 'recovered',
  failingSince: Date,
): Promise<void> {
  if (kind === 'failing') {
    if (await takeBackRecovery(trx, ref)) return;
    await rows(
      trx,
      `UPDATE webhook_endpoints SET told_exhausted_at = NULL
       WHERE merchant_id = :merchant_id AND endpoint = :endpoint`,
      ref,
    );
  }
  await rows(trx, INSERT_NOTICE, {
    ...ref,
    id: uuidv7(),
    kind,
    failing_since: failingSince,
    delay_ms: kind === 'recovered' ? SETTLES_MS : 0,
  });
}

const INSERT_NOTICE = `
  INSERT INTO webhook_notices
    (id, merchant_id, endpoint, kind, failing_since, last_status, last_error, send_at)
  SELECT :id, merchant_id, endpoint, :kind, :failing_since, last_status, last_error,
    clock_timestamp() + :delay_ms * interval '1 millisecond'
  FROM webhook_endpoints WHERE merchant_id = :merchant_id AND endpoint = :endpoint`;

function takeBackRecovery(trx: Transaction, ref: EndpointRef): Promise<boolean> {
  return hasRow(
    trx,
    `DELETE FROM webhook_notices
     WHERE merchant_id = :merchant_id AND endpoint = :endpoint AND kind = 'recovered'
       AND tries = 0 AND send_at > clock_timestamp()
     RETURNING id`,
    ref,
  );
}

/** Records that a delivery was given up, unless this was told in the same outage. */
export async function noticeExhausted(trx: Transaction, ref: EndpointRef): Promise<void> {
  await rows(
    trx,
    `WITH told AS (
       UPDATE webhook_endpoints SET told_exhausted_at = clock_timestamp()
       WHERE merchant_id = :merchant_id AND endpoint = :endpoint
         AND (told_exhausted_at IS NULL OR breaker = 'closed' AND told_exhausted_at
           < clock_timestamp() - :again_ms * interval '1 millisecond')
       RETURNING *
     )
     INSERT INTO webhook_notices
       (id, merchant_id, endpoint, kind, failing_since, last_status, last_error, send_at)
     SELECT :id, merchant_id, endpoint, 'exhausted', coalesce(failing_since, clock_timestamp()),
       last_status, last_error, clock_timestamp()
     FROM told`,
    { ...ref, id: uuidv7(), again_ms: EXHAUSTED_AGAIN_MS },
  );
}

/** Longer than all ways of telling one notice may take. */
export const NOTICE_LEASE_MS = 2 * MINUTE_MS;

/** The waits after each time that a notice could not be told; the last one repeats. */
export const NOTICE_RETRY_DELAYS_MS: readonly number[] = [
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  1 * HOUR_MS,
];

/** An older notice helps nobody. It stays unsent. */
const TELL_WITHIN_MS = 24 * HOUR_MS;

/** The most e-mails to one merchant in an hour, however many endpoints it names. */
export const MAX_EMAILS_PER_HOUR = 10;

/** A notice with what is to be told. */
export interface Notice {
  id: string;
  merchant_id: number;
  merchant_name: string;
  /** The merchant's address. */
  email: string;
  kind: 'failing' | 'recovered' | 'exhausted';
  endpoint: string;
  failing_since: Date;
  last_status: number | null;
  last_error: string | null;
  created_at: Date;
  /** How often somebody has tried to tell it, this time included. */
  tries: number;
  emailed_at: Date | null;
  posted_at: Date | null;
  /** The webhooks that wait for the endpoint now. */
  waiting: number;
  /** The endpoint does not work now. */
  is_held: boolean;
  /** The e-mails to the merchant within an hour. */
  emailed_lately: number;
}

/**
 * Takes a notice that is due, under a lease: nobody else takes it before the lease ends. Of two words
 * about the same endpoint only the newest is told, and nothing that is a day old.
 * @returns null when none is due
 */
export async function takeNotice(database: Database | Transaction): Promise<Notice | null> {
  const bindings = {
    lease_ms: NOTICE_LEASE_MS,
    within_ms: TELL_WITHIN_MS,
    hour_ms: HOUR_MS,
  };
  return (await firstRow<Notice>(database, TAKE, bindings, 'fresh')) ?? null;
}

/** SQL: the endpoint has failed or recovered since the notice `n`. What was given up stays true. */
const IS_OVERTAKEN = `n.kind <> 'exhausted' AND EXISTS (
  SELECT FROM webhook_notices newer
  WHERE newer.merchant_id = n.merchant_id AND newer.endpoint = n.endpoint
    AND newer.kind <> 'exhausted' AND newer.created_at > n.created_at
    AND (newer.tries > 0 OR newer.send_at <= now()))`;

const TAKE = `
  WITH due AS (
    SELECT n.id FROM webhook_notices n
    WHERE n.sent_at IS NULL AND n.send_at <= now()
      AND n.send_at > now() - :within_ms * interval '1 millisecond'
      AND n.created_at > now() - :within_ms * interval '1 millisecond'
      AND NOT (${IS_OVERTAKEN})
    ORDER BY n.send_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE webhook_notices n
    SET send_at = clock_timestamp() + :lease_ms * interval '1 millisecond', tries = tries + 1
    FROM due WHERE n.id = due.id RETURNING n.*
  )
  SELECT t.id, t.merchant_id, m.name AS merchant_name, m.email, t.kind, t.endpoint,
    t.failing_since, t.last_status, t.last_error, t.created_at, t.tries, t.emailed_at, t.posted_at,
    (SELECT count(*) FROM webhook_deliveries d
     WHERE d.merchant_id = t.merchant_id AND d.endpoint = t.endpoint
       AND d.next_step IS NOT NULL AND d.admitted_at IS NULL) AS waiting,
    p.breaker = 'open' AS is_held,
    (SELECT count(*) FROM webhook_notices e WHERE e.merchant_id = t.merchant_id
       AND e.emailed_at > now() - :hour_ms * interval '1 millisecond') AS emailed_lately
  FROM taken t
  JOIN merchants m ON m.id = t.merchant_id
  JOIN webhook_endpoints p ON p.merchant_id = t.merchant_id AND p.endpoint = t.endpoint`;

/** The outcome of telling a notice. */
export interface Telling {
  isEmailed: boolean;
  isPosted: boolean;
  /** Nothing is left to do. Otherwise it is tried again later. */
  isDone: boolean;
}

/** Records what was told. What was not is told later, after ever longer waits. */
export async function recordTelling(
  database: Database,
  { id, merchant_id, tries }: Notice,
  { isEmailed, isPosted, isDone }: Telling,
): Promise<void> {
  const last = NOTICE_RETRY_DELAYS_MS.length - 1;
  await rows(
    database,
    `UPDATE webhook_notices SET
       emailed_at = CASE WHEN :is_emailed THEN clock_timestamp() ELSE emailed_at END,
       posted_at = CASE WHEN :is_posted THEN clock_timestamp() ELSE posted_at END,
       sent_at = CASE WHEN :is_done THEN clock_timestamp() ELSE sent_at END,
       send_at = clock_timestamp() + :delay_ms * interval '1 millisecond'
     WHERE merchant_id = :merchant_id AND id = :id`,
    {
      id,
      merchant_id,
      is_emailed: isEmailed,
      is_posted: isPosted,
      is_done: isDone,
      delay_ms: NOTICE_RETRY_DELAYS_MS[Math.min(tries - 1, last)]!,
    },
  );
}
