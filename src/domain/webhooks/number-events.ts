import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { IS_UNMARKED_DATABASE } from '../upkeep/other-database.ts';

/** The number of events that one round numbers. */
const NUMBERING_BATCH = 500;

/** The kinds of payments that have a settlement event, and the states that it reports. */
export const ENDING_KINDS = ['collection', 'payout', 'reversal'] as const;
export const END_STATES = ['completed', 'failed'] as const;

/** A payment that has ended, as its event reports it. */
export interface EndedPayment {
  kind: (typeof ENDING_KINDS)[number];
  merchant_id: number;
  state: (typeof END_STATES)[number];
  /** The time from its acceptance to the event. */
  seconds: number;
  channel: number;
  gateway: string;
  /** How the end was learned: 'callback', 'poll', 'submission', 'statement' or 'support'. Null: forgotten. */
  cause: string | null;
}

/** SQL that is true when an event has no number yet. Ordered, so that it reads the index. */
export const HAS_UNNUMBERED =
  '(SELECT true FROM events WHERE sequence IS NULL ORDER BY created_at, id LIMIT 1)';

/**
 * Numbers committed settlement events per merchant and plans their deliveries. Only the holder of
 * the lock `preparing deliveries` may do it, and only to committed events. So an event with a lower
 * number never appears after one with a higher number. Numbers nothing on a database that may have
 * forgotten numbers that it gave: `restore mark` skips them.
 * @returns the payments whose events have numbers now
 */
export function numberEvents(trx: Transaction): Promise<EndedPayment[]> {
  return rows<EndedPayment>(trx, NUMBER, { batch: NUMBERING_BATCH }, 'fresh');
}

const NUMBER = `
  WITH waiting AS (
    SELECT merchant_id, id,
      row_number() OVER (PARTITION BY merchant_id ORDER BY created_at, id) AS place
    FROM (
      SELECT * FROM events WHERE sequence IS NULL AND NOT ${IS_UNMARKED_DATABASE}
      ORDER BY created_at, id LIMIT :batch
    ) e
  ), counted AS (
    INSERT INTO event_sequences AS s (merchant_id, last_sequence)
    SELECT merchant_id, count(*) FROM waiting GROUP BY merchant_id
    ON CONFLICT (merchant_id) DO UPDATE SET last_sequence = s.last_sequence + excluded.last_sequence
    RETURNING merchant_id, last_sequence
  ), numbered AS (
    UPDATE events e
    SET sequence = counted.last_sequence - totals.total + waiting.place
    FROM waiting
    JOIN counted ON counted.merchant_id = waiting.merchant_id
    JOIN (SELECT merchant_id, count(*) AS total FROM waiting GROUP BY merchant_id) totals
      ON totals.merchant_id = waiting.merchant_id
    WHERE e.merchant_id = waiting.merchant_id AND e.id = waiting.id
    RETURNING e.merchant_id, e.id, e.endpoint, e.payment_kind, e.payment_id, e.type, e.created_at
  ), planned AS (
    INSERT INTO webhook_deliveries
      (merchant_id, event_id, endpoint, created_at, next_step, next_step_at)
    SELECT merchant_id, id, endpoint, created_at, 'deliver', now() FROM numbered
  )
  SELECT payment_kind AS kind, numbered.merchant_id,
    CASE type WHEN 'transaction.completed' THEN 'completed' ELSE 'failed' END AS state,
    CAST(greatest(0, extract(epoch FROM numbered.created_at - accepted.created_at)) AS float8)
      AS seconds,
    accepted.channel, accepted.gateway, ended.cause
  FROM numbered
  -- LATERAL makes the planner look up each payment instead of reading the whole tables.
  LEFT JOIN LATERAL (${ENDING_KINDS.map(acceptedAt).join(' UNION ALL ')}
  ) accepted ON true
  LEFT JOIN LATERAL (
    -- The last move is the end. With the status as a condition, a plan of an empty table might
    -- read the index of all ends of the merchant.
    SELECT h.cause FROM payment_history h
    WHERE h.merchant_id = numbered.merchant_id AND h.payment_kind = numbered.payment_kind
      AND h.payment_id = numbered.payment_id
      -- Only the months of the payment's life are read.
      AND h.happened_at >= accepted.created_at
    ORDER BY h.happened_at DESC LIMIT 1
  ) ended ON true`;

function acceptedAt(kind: EndedPayment['kind']): string {
  return `
    SELECT created_at, channel, gateway FROM ${STEP_TABLES[kind].table} p WHERE numbered.payment_kind = '${kind}'
      AND p.merchant_id = numbered.merchant_id AND p.id = numbered.payment_id`;
}
