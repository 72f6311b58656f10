import { type Database, hasRow } from '../../src/connections/database.ts';

/** Tells whether a statement of this database waits for a lock. */
export function waitsForLock(database: Database): Promise<boolean> {
  return hasRow(
    database,
    `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
}
