import { type Database, firstRow } from './database.ts';
import { IS_READ_ONLY, messageOf } from './database-errors.ts';
import { connectionAdvice, POSTGRES_SETTINGS } from './database-warnings.ts';

/** PostgreSQL 15: the migrations' SQL needs it. */
const MIN_SERVER_VERSION = 150_000;

type Use = 'read' | 'write';

/** Says in one line why the database cannot be used, or null when it can. Never throws. */
export async function databaseProblem(database: Database, use?: Use): Promise<string | null> {
  try {
    return await databaseFault(database, use);
  } catch (error) {
    const said = connectionAdvice(error, POSTGRES_SETTINGS) ?? messageOf(error);
    return `DATABASE_URL cannot be used: ${said}`;
  }
}

/** Says the same of a database that answers. @throws Error when it does not */
export async function databaseFault(
  database: Database,
  use: Use = 'write',
): Promise<string | null> {
  const found = await firstRow<{ version: number; isStandby: boolean; isReadOnly: boolean }>(
    database,
    `SELECT current_setting('server_version_num')::int AS version,
       pg_is_in_recovery() AS "isStandby",
       ${IS_READ_ONLY} AS "isReadOnly"`,
  );
  if (!found || found.version < MIN_SERVER_VERSION) {
    return 'DATABASE_URL is a PostgreSQL older than 15: upgrade the server';
  }
  if (use === 'read' || !found.isReadOnly) return null;
  return `DATABASE_URL can only be read: ${found.isStandby ? STANDBY : READ_ONLY_DATABASE}`;
}

const STANDBY = 'it is a standby. Give the address of the primary, or promote it';
const READ_ONLY_DATABASE =
  'default_transaction_read_only is on, as when its provider has found the disk full. Make room, then end that';

/** Returns the role of a connection. A pooler may use another one than its address names. */
export async function currentRole(database: Database): Promise<string> {
  return (await firstRow<{ role: string }>(database, 'SELECT current_user AS role'))!.role;
}
