import { readdirSync } from 'node:fs';
import type { Knex } from 'knex';
import { type Database, firstRow, inTransaction, rows, SESSION_SETTINGS } from './database.ts';
import { isOutage, messageOf } from './database-errors.ts';
import { lockUntilCommit } from './locks.ts';

/**
 * Migrations only go forward. Each runs in a transaction, unless it says otherwise. Their names
 * are recorded without the file's extension, so that a checkout and a build can share a database.
 */

const FOLDER = new URL('../../migrations/', import.meta.url);
const TABLE = 'schema_migrations';
/** All traffic waits behind a migration that waits for a lock, so it fails soon and is run again. */
const LOCK_TIMEOUT_MS = 5_000;

interface Migration {
  /** Without a transaction, every step must allow being run again. */
  config?: { transaction: boolean };
  up(knex: Knex): Promise<void>;
}

const source: Knex.MigrationSource<string> = {
  getMigrations: async () => migrationNames(),
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const file = migrationFiles().find((candidate) => nameOf(candidate) === name);
    const migration = (await import(new URL(file!, FOLDER).href)) as Migration;
    const { config = { transaction: true } } = migration;
    return {
      config,
      up: async (knex) => {
        // Only the wait is limited. The work takes as long as the tables are large.
        if (config.transaction) {
          await knex.raw(
            `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = 0`,
          );
        }
        await migration.up(knex);
      },
      down: async () => {
        throw new Error('Migrations only go forward');
      },
    };
  },
};

function migrationFiles(): string[] {
  return readdirSync(FOLDER).filter((file) => /^\d{14}_.*\.[jt]s$/.test(file));
}

function nameOf(file: string): string {
  return file.replace(/\.[jt]s$/, '');
}

function migrationNames(): string[] {
  return migrationFiles().map(nameOf).sort();
}

const CONFIG = {
  migrationSource: source,
  tableName: TABLE,
  // A newer database is fine, because migrations expand before they contract.
  disableMigrationsListValidation: true,
};

/**
 * Brings the database up to this release. One caller works; others wait for it and then find
 * nothing to do.
 * @returns the names of the migrations that ran
 */
export async function migrate(database: Database): Promise<string[]> {
  return database.transaction(async (trx) => {
    await trx.raw(
      'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0',
    );
    await lockUntilCommit(trx, 'migrations');
    // Knex notes in a table that it is at work. A run that was killed leaves its note behind;
    // the holder of the real lock may remove it.
    await database.migrate.list(CONFIG);
    await database.migrate.forceFreeMigrationsLock(CONFIG);
    const [, ran] = (await database.migrate.latest(CONFIG)) as [number, string[]];
    return ran;
  });
}

/** Returns a line when the database is older than this release needs. A newer one is fine. */
export async function schemaProblem(database: Database): Promise<string | null> {
  try {
    const done = await rows<{ name: string }>(database, `SELECT name FROM ${TABLE}`);
    const known = done.map(({ name }) => name);
    const missing = migrationNames().filter((name) => !known.includes(name));
    if (missing.length === 0) return null;
    return `The database is older than this release (${missing.length} migrations to run): run \`npm run migrate\` first`;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === '42P01') return 'The database is empty: run `npm run migrate` first';
    if (code === '42501') {
      return 'The role of DATABASE_URL has no rights on the tables: run `npm run migrate` with DATABASE_MIGRATION_URL';
    }
    return `The database cannot be read: ${messageOf(error)}`;
  }
}

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

/**
 * Returns the id that the first migration gave this installation. A restored backup has the same.
 * It begins every key in Redis, so installations that share a Redis do not take each other's jobs.
 */
export async function installationId(database: Database): Promise<string> {
  const found = await firstRow<{ id: string }>(database, 'SELECT id FROM installation');
  return found!.id;
}
