import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** How the ends of a channel's last payments were learned. */
export interface LearnedLately {
  channel: number;
  /** The gateway called back, before or after the end. */
  by_callback: number;
  /** A question found the end, and no callback came. */
  by_poll: number;
}

/** The submissions that are looked at: the last ones that have had time to end by a question. */
const SAMPLE = { sample: 500, from_minutes: 30, to_minutes: 2 };
/** So many payments that only questions have settled are no accident. As in the alert. */
const MIN_POLLED = 20;

/**
 * Reads how payments that were submitted lately have ended, by channel. Looks at few attempts, by
 * their age, and at the history of their payments by key, so it costs the same however many there are.
 */
export function readLearnedLately(database: Database): Promise<LearnedLately[]> {
  return rows<LearnedLately>(database, READ, SAMPLE);
}

const READ = `
  SELECT p.channel, count(*) FILTER (WHERE called.back) AS by_callback,
    count(*) FILTER (WHERE ended.cause = 'poll' AND NOT called.back) AS by_poll
  FROM (
    SELECT merchant_id, payment_kind, payment_id FROM attempts
    WHERE started_at > now() - :from_minutes * interval '1 minute'
      AND started_at <= now() - :to_minutes * interval '1 minute'
    ORDER BY started_at DESC LIMIT :sample
  ) attempt
  CROSS JOIN LATERAL (${PAYMENT_KINDS.map(
    (kind) => `
    SELECT channel, created_at FROM ${STEP_TABLES[kind].table} p WHERE attempt.payment_kind = '${kind}'
      AND p.merchant_id = attempt.merchant_id AND p.id = attempt.payment_id`,
  ).join(' UNION ALL ')}
  ) p
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
