import { readdirSync } from 'node:fs';
import type { Knex } from 'knex';
import { lockUntilCommit } from './advisory-locks.ts';
import { type Database, rows } from './database.ts';
import { messageOf } from './database-errors.ts';

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
