import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';

/** Held while a template is made, so that two runs on one server do not make it twice. */
const TEMPLATE_LOCK = 4_207_001;
const MIGRATIONS = new URL('../../migrations/', import.meta.url);
const PACKAGE_LOCK = new URL('../../package-lock.json', import.meta.url);

/** Returns a name that changes with everything that the schema is made from. */
export function templateName(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(MIGRATIONS).sort()) {
    hash.update(file).update(readFileSync(new URL(file, MIGRATIONS)));
  }
  // BullMQ brings the tables of its queues.
  hash.update(readFileSync(PACKAGE_LOCK));
  return `malipo_test_template_${hash.digest('hex').slice(0, 16)}`;
}

/** Makes the migrated, empty database from which tests clone theirs, unless it is there. */
export async function makeTemplate(serverUrl: string, name: string): Promise<void> {
  const server = openDatabase(serverUrl, 2, 'malipo-test');
  try {
    await server.transaction(async (trx) => {
      await rows(trx, 'SET LOCAL idle_in_transaction_session_timeout = 0');
      await rows(trx, `SELECT pg_advisory_xact_lock(${TEMPLATE_LOCK})`);
      if ((await rows(trx, 'SELECT FROM pg_database WHERE datname = :name', { name })).length)
        return;
      const unfinished = `${name}_unfinished`;
      await rows(server, `DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await rows(server, `CREATE DATABASE ${unfinished}`);
      await migrateAll(serverUrl, unfinished);
      await rows(server, `ALTER DATABASE ${unfinished} RENAME TO ${name}`);
    });
  } finally {
    await server.destroy();
  }
}

export async function dropTemplate(serverUrl: string, name: string): Promise<void> {
  const server = openDatabase(serverUrl, 1, 'malipo-test');
  await rows(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await server.destroy();
}

async function migrateAll(serverUrl: string, name: string): Promise<void> {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const template = openDatabase(url.href, 2, 'malipo-test');
  await migrate(template);
  await template.destroy();
  await createQueueBackend({ databaseUrl: url.href }).migrate();
}
