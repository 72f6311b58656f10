import { lockUntilCommit } from './advisory-locks.ts';
import { type Database, inTransaction, rows, SESSION_SETTINGS } from './database.ts';
import { isOutage } from './database-errors.ts';

/**
 * Makes the settings of every session defaults of the role, because a pooler that lends
 * connections by transaction allows no settings per session. A role may set its own defaults.
 * Ends idle connections of the pooler that do not have them yet.
 * @returns true when a default has changed
 */
export async function setRoleDefaults(database: Database): Promise<boolean> {
  const isNew = await inTransaction(database, async (trx) => {
    await lockUntilCommit(trx, 'role defaults');
    const before = await currentDefaults(trx);
    await rows(trx, SET_DEFAULTS);
    return (await currentDefaults(trx)) !== before;
  });
  // The connection that asks is the last one to be ended.
  if (isNew) {
    await rows(database, END_IDLE_SESSIONS).catch((error) => {
      if (!isOutage(error)) throw error;
    });
  }
  return isNew;
}

/** Returns a line when the sessions that the pooler lends lack a setting, or null. */
export async function roleDefaultsProblem(database: Database): Promise<string | null> {
  const found = await rows<{ name: string; setting: string }>(
    database,
    'SELECT lower(name) AS name, setting FROM pg_settings WHERE lower(name) = ANY(:names)',
    { names: Object.keys(SESSION_SETTINGS) },
  );
  const settings = new Map(found.map(({ name, setting }) => [name, setting]));
  const wrong = Object.entries(SESSION_SETTINGS)
    .filter(([name, value]) => settings.get(name) !== value)
    .map(([name, value]) => `${name}=${value}`);
  if (wrong.length === 0) return null;
  return `The sessions behind DATABASE_URL lack ${wrong.join(', ')}: run \`npm run migrate\` with DATABASE_POOLING=transaction, then RECONNECT in the pooler's console`;
}

const SET_DEFAULTS = `DO $$ BEGIN ${Object.entries(SESSION_SETTINGS)
  .map(
    ([name, value]) =>
      `EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET ${name} TO %L', current_database(), '${value}');`,
  )
  .join(' ')} END $$`;

async function currentDefaults(database: Database): Promise<string> {
  const [row] = await rows<{ setconfig: string[] }>(
    database,
    `SELECT setconfig FROM pg_db_role_setting
     WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = current_user)
       AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return JSON.stringify([...(row?.setconfig ?? [])].sort());
}

const END_IDLE_SESSIONS = `
  SELECT pg_terminate_backend(pid) FROM (
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user
      AND (state = 'idle' OR pid = pg_backend_pid())
    ORDER BY pid = pg_backend_pid()
  ) AS sessions`;
