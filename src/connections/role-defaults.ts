import { type Database, inTransaction, rows, SESSION_SETTINGS } from './database.ts';
import { isOutage } from './database-errors.ts';

/**
 * Behind a pooler that lends connections by transaction nothing can be set per session, so
 * the role carries the settings in this database. A role may set its own.
 */

/**
 * Held while they are set, so that two releases do not at once. The number has no other
 * meaning: 4_207_000 is of migrations.ts, 4_207_001 of number-events.ts and 4_207_002 of
 * admit-deliveries.ts, and a release must not wait for those, nor they for it.
 */
const LOCK = 4_207_003;

/**
 * Makes the settings of every session defaults of the role. The pooler's connections that
 * do not know them yet, and are not in use, are ended.
 * @returns whether anything was new.
 */
export async function setRoleDefaults(database: Database): Promise<boolean> {
  const isNew = await inTransaction(database, async (trx) => {
    await trx.raw(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const before = await currentDefaults(trx);
    await trx.raw(SET_DEFAULTS);
    return (await currentDefaults(trx)) !== before;
  });
  // The last one to be ended is the one that asks.
  if (isNew) {
    await rows(database, END_IDLE_SESSIONS).catch((error) => {
      if (!isOutage(error)) throw error;
    });
  }
  return isNew;
}

/** One line when the sessions that the pooler lends lack a setting, or null. */
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
