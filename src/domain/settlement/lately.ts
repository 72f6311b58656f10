import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** The sources that told the ends of a channel's last payments. */
export interface LearnedLately {
  channel: number;
  /** The gateway called back, before or after the end. */
  by_callback: number;
  /** A question found the end, and no callback came. */
  by_poll: number;
}

/** The submissions that are looked at: the last ones that have had time to end by a question. */
const SAMPLE = { sample: 500, from_minutes: 30, to_minutes: 2 };
/** From this many payments settled only by questions on, callbacks are missing. As in the alert. */
const MIN_POLLED = 20;

/**
 * Reads how payments that were submitted lately have ended, by channel. Looks at few attempts, by
 * their age, and at the history of their payments by key, so it costs the same however many there are.
 */
export function readLearnedLately(database: Database): Promise<LearnedLately[]> {
  return rows<LearnedLately>(database, READ_LEARNED, SAMPLE);
}

/** SQL: the payment of an attempt. */
const PAYMENT_OF_ATTEMPT = PAYMENT_KINDS.map(
  (kind) => `
    SELECT channel, created_at FROM ${STEP_TABLES[kind].table} p WHERE attempt.payment_kind = '${kind}'
      AND p.merchant_id = attempt.merchant_id AND p.id = attempt.payment_id`,
).join(' UNION ALL ');

const READ_LEARNED = `
  SELECT p.channel, count(*) FILTER (WHERE called.back) AS by_callback,
    count(*) FILTER (WHERE ended.cause = 'poll' AND NOT called.back) AS by_poll
  FROM (
    SELECT merchant_id, payment_kind, payment_id FROM attempts
    WHERE started_at > now() - :from_minutes * interval '1 minute'
      AND started_at <= now() - :to_minutes * interval '1 minute'
    ORDER BY started_at DESC LIMIT :sample
  ) attempt
  CROSS JOIN LATERAL (${PAYMENT_OF_ATTEMPT}) p
  CROSS JOIN LATERAL (
    SELECT h.to_status, h.cause FROM payment_history h
    WHERE h.merchant_id = attempt.merchant_id AND h.payment_kind = attempt.payment_kind
      AND h.payment_id = attempt.payment_id
      -- Only the months of the payment's life are read.
      AND h.happened_at >= p.created_at
    ORDER BY h.happened_at DESC LIMIT 1
  ) ended
  CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM callbacks c WHERE c.merchant_id = attempt.merchant_id
      AND c.payment_id = attempt.payment_id AND c.payment_kind = attempt.payment_kind) AS back
  ) called
  WHERE ended.to_status IN ('completed', 'failed')
  GROUP BY p.channel ORDER BY p.channel`;

/** Tells whether callbacks of a channel do not arrive: enough has ended, and none by a callback. */
export function isPolledOnly({ by_callback, by_poll }: LearnedLately): boolean {
  return by_callback === 0 && by_poll >= MIN_POLLED;
}

/** The outcomes of a channel's payments that were first submitted in one slot of time. */
export interface SlotOutcome {
  /** The slot's start. */
  starts_at: Date;
  channel: number;
  /** The submitted payments of the sample, and their outcomes by now. */
  submitted: number;
  completed: number;
  failed: number;
  /** From the acceptance to the end, in seconds. Null when none has ended. */
  median_seconds: number | null;
}

export const SLOT_MINUTES = 30;
export const SLOTS = 12;
/** The newest submissions of a slot that are looked at, of all channels together. */
export const SAMPLE_PER_SLOT = 150;

/**
 * Reads what became of the payments that were submitted in the last hours, by slot and channel.
 * Each slot has a sample of the same size, found by the age of attempts. So it costs the same
 * however many there are, and counts mean "at least".
 */
export function readOutcomesLately(database: Database): Promise<SlotOutcome[]> {
  return rows<SlotOutcome>(database, READ_OUTCOMES, {
    minutes: SLOT_MINUTES,
    slots: SLOTS,
    sample: SAMPLE_PER_SLOT,
  });
}

const READ_OUTCOMES = `
  SELECT slot.starts_at, p.channel, count(*) AS submitted,
    count(*) FILTER (WHERE ended.to_status = 'completed') AS completed,
    count(*) FILTER (WHERE ended.to_status = 'failed') AS failed,
    percentile_cont(0.5) WITHIN GROUP (
      ORDER BY CAST(extract(epoch FROM ended.happened_at - p.created_at) AS float8))
      FILTER (WHERE ended.to_status IS NOT NULL) AS median_seconds
  FROM (
    SELECT date_bin(:minutes * interval '1 minute', now(), timestamptz 'epoch')
      - n * :minutes * interval '1 minute' AS starts_at
    FROM generate_series(0, :slots - 1) AS n
  ) slot
  CROSS JOIN LATERAL (
    SELECT merchant_id, payment_kind, payment_id FROM attempts
    WHERE started_at >= slot.starts_at
      AND started_at < slot.starts_at + :minutes * interval '1 minute'
      -- A payment counts once, however often it was sent.
      AND attempt_no = 1
    ORDER BY started_at DESC LIMIT :sample
  ) attempt
  CROSS JOIN LATERAL (${PAYMENT_OF_ATTEMPT}) p
  LEFT JOIN LATERAL (
    SELECT last.to_status, last.happened_at FROM (
      SELECT h.to_status, h.happened_at FROM payment_history h
      WHERE h.merchant_id = attempt.merchant_id AND h.payment_kind = attempt.payment_kind
        AND h.payment_id = attempt.payment_id
        -- Only the months of the payment's life are read.
        AND h.happened_at >= p.created_at
      ORDER BY h.happened_at DESC LIMIT 1
    ) last WHERE last.to_status IN ('completed', 'failed')
  ) ended ON true
  GROUP BY slot.starts_at, p.channel ORDER BY slot.starts_at, p.channel`;
