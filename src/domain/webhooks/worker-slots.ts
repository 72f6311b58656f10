import { type Database, rows } from '../../connections/database.ts';

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
