import { type Database, firstRow, inTransaction } from '../../database.ts';

/** Events numbered in one round. */
const NUMBERING_BATCH = 500;
/** One numberer at a time, over all dispatchers; the number has no other meaning. */
const NUMBERING_LOCK = 4_207_001;

/**
 * Numbers committed settlement events per merchant, and plans the delivery of each.
 * Numbers are given after the commit and one numberer at a time, so that who reads the
 * events by number can never be overtaken by one with a lower number.
 * @returns how many were numbered.
 */
export async function numberEvents(database: Database): Promise<number> {
  // Most rounds find nothing; those cost one read and no lock.
  const waiting = await firstRow(
    database, // Ordered, so that no plan can think of reading the whole table instead of the index.
    'SELECT 1 FROM events WHERE sequence IS NULL ORDER BY created_at, id LIMIT 1',
  );
  if (!waiting) return 0;
  return inTransaction(database, async (trx) => {
    await trx.raw('SELECT pg_advisory_xact_lock(?)', [NUMBERING_LOCK]);
    const result = await firstRow<{ numbered: number }>(trx, NUMBER, { batch: NUMBERING_BATCH });
    return result?.numbered ?? 0;
  });
}

const NUMBER = `
  WITH waiting AS (
    SELECT merchant_id, id,
      row_number() OVER (PARTITION BY merchant_id ORDER BY created_at, id) AS place
    FROM (SELECT * FROM events WHERE sequence IS NULL ORDER BY created_at, id LIMIT :batch) e
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
    RETURNING e.merchant_id, e.id, e.endpoint
  ), planned AS (
    INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, next_step, next_step_at)
    SELECT merchant_id, id, endpoint, 'deliver', now() FROM numbered
  )
  SELECT count(*) AS numbered FROM numbered`;
