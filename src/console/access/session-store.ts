import connectPgSimple from 'connect-pg-simple';
import session, { type Store } from 'express-session';
import type { Pool } from 'pg';
import { type Database, rows } from '../../connections/database.ts';
import { SESSION_MAX_MS } from '../../domain/staff/staff-session.ts';

/**
 * Keeps sessions in the table `console_sessions`, through the pool of the process: so TLS, poolers,
 * time-outs and kept plans are as everywhere. Retention removes what has ended.
 */
export function createSessionStore(database: Database): Store {
  const PgStore = connectPgSimple(session);
  return new PgStore({
    pool: { query: queryOf(database) } as unknown as Pool,
    tableName: 'console_sessions',
    ttl: SESSION_MAX_MS / 1_000,
    // `memberOfSession` decides when a session ends.
    disableTouch: true,
    pruneSessionInterval: false,
  });
}

/** Gives the numbered values of the store's few statements the names that `rows` wants. */
function queryOf(database: Database) {
  return async (text: string, values: unknown[]) => {
    const named = Object.fromEntries(values.map((value, index) => [`v${index + 1}`, value]));
    return { rows: await rows(database, text.replace(/\$(\d+)/g, ':v$1'), named) };
  };
}
