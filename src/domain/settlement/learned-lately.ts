import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** How the last payments of a channel that have ended were learned of. */
export interface LearnedLately {
  channel: number;
  by_callback: number;
  by_poll: number;
}

/** The last submissions that are looked at. */
const SAMPLE_SIZE = 500;
const SAMPLE_MINUTES = 60;
/** So many payments that only questions have settled are no accident. As in the alert. */
const MIN_POLLED = 20;

/**
 * Reads how payments that were submitted lately have ended, by channel. Looks at few attempts, by
 * their age, and at the history of their payments by key, so it costs the same however many there are.
 */
export function readLearnedLately(database: Database): Promise<LearnedLately[]> {
  return rows<LearnedLately>(database, READ, { minutes: SAMPLE_MINUTES, sample: SAMPLE_SIZE });
}

const READ = `
  SELECT p.channel, count(*) FILTER (WHERE ended.cause = 'callback') AS by_callback,
    count(*) FILTER (WHERE ended.cause = 'poll') AS by_poll
  FROM (
    SELECT merchant_id, payment_kind, payment_id FROM attempts
    WHERE started_at > now() - :minutes * interval '1 minute'
    ORDER BY started_at DESC LIMIT :sample
  ) attempt
  CROSS JOIN LATERAL (${PAYMENT_KINDS.map(
    (kind) => `
    SELECT channel FROM ${STEP_TABLES[kind].table} p WHERE attempt.payment_kind = '${kind}'
      AND p.merchant_id = attempt.merchant_id AND p.id = attempt.payment_id`,
  ).join(' UNION ALL ')}
  ) p
  CROSS JOIN LATERAL (
    SELECT h.to_status, h.cause FROM payment_history h
    WHERE h.merchant_id = attempt.merchant_id AND h.payment_kind = attempt.payment_kind
      AND h.payment_id = attempt.payment_id
    ORDER BY h.happened_at DESC LIMIT 1
  ) ended
  WHERE ended.to_status IN ('completed', 'failed')
  GROUP BY p.channel ORDER BY p.channel`;

/** Tells whether callbacks of a channel do not arrive: enough has ended, and none by a callback. */
export function isPolledOnly({ by_callback, by_poll }: LearnedLately): boolean {
  return by_callback === 0 && by_poll >= MIN_POLLED;
}
