import { type Database, firstRow, hasRow, rows } from '../../connections/database.ts';
import { LAST_ENDED_DAY } from '../gateway-accounts/close-day.ts';
import { type Due, FIRST, readBlocks, SEALED_TABLES, sealOf } from './seal.ts';

/**
 * Seals each day that has ended, once, the oldest first. Each seal is added by itself, so a stop
 * leaves the rest to the next run. A day is sealed hours after its end, and no transaction of the
 * service lasts for minutes: no row comes after the seal of its day. Two processes at once find the
 * same hashes, and one of them adds the seal.
 */
export async function sealDays(database: Database, signal: AbortSignal): Promise<void> {
  for (const table_name of SEALED_TABLES) {
    for (;;) {
      const due = await firstRow<Due>(database, NEXT_DAY, { table_name, first: FIRST });
      if (!due) break;
      const blocks = await readBlocks(database, due, signal);
      const seal = { ...due, ...sealOf(due, blocks), blocks: JSON.stringify(blocks) };
      // Another process has sealed the day, and goes on.
      if (!(await hasRow(database, ADD_SEAL, seal))) break;
    }
  }
}

/** SQL: the first day of this installation. */
const FIRST_DAY = `(SELECT CAST(min(migration_time) AT TIME ZONE 'Africa/Nairobi' AS date)
  FROM schema_migrations)`;

const NEXT_DAY = `
  SELECT :table_name AS table_name, CAST(next.day AS text) AS day,
    coalesce(s.hash, :first) AS hash_before
  FROM (SELECT max(day) AS day FROM seals WHERE table_name = :table_name) newest
  LEFT JOIN seals s ON s.table_name = :table_name AND s.day = newest.day
  CROSS JOIN LATERAL (SELECT coalesce(newest.day + 1, ${FIRST_DAY}) AS day) next
  WHERE next.day <= ${LAST_ENDED_DAY}`;

const ADD_SEAL = `
  INSERT INTO seals (table_name, day, row_count, blocks, hash, hash_before)
  VALUES (:table_name, CAST(:day AS date), :row_count, CAST(:blocks AS jsonb), :hash, :hash_before)
  ON CONFLICT (table_name, day) DO NOTHING RETURNING day`;

/** Counts for each table the days that could have been sealed and are not. */
export function sealedDaysBehind(database: Database) {
  return rows<{ table_name: string; days: number }>(
    database,
    `SELECT table_name, greatest(0, ${LAST_ENDED_DAY} - coalesce(max(day), ${FIRST_DAY} - 1)) AS days
     FROM unnest(CAST(:tables AS text[])) AS table_name LEFT JOIN seals USING (table_name)
     GROUP BY table_name`,
    { tables: SEALED_TABLES },
  );
}
