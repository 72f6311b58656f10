import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { makeRoles, type Roles, urlAs } from '../../scripts/sandbox/roles.ts';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { grantRuntimeRights } from '../../src/domain/upkeep/runtime-rights.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { rolesOf } from './roles.ts';

/** Held while a template is made, so that two runs on one server do not make it twice. */
const TEMPLATE_LOCK = 4_207_001;
/** What the schema and its rights are made from. BullMQ brings the tables of its queues. */
const SOURCES = ['migrations/', 'src/domain/upkeep/', 'deploy/postgres/', 'package-lock.json'];

/** Returns a name that changes with everything that the template is made from. */
export function templateName(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const url = new URL(`../../${source}`, import.meta.url);
    const files = source.endsWith('/') ? readdirSync(url).sort() : [''];
    for (const file of files) hash.update(file).update(readFileSync(new URL(file, url)));
  }
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
      const roles = rolesOf(serverUrl, name);
      await drop(server, unfinished, roles);
      await makeRoles(server, unfinished, roles);
      // For tests that do what even the owner may not.
      await rows(server, `GRANT SET ON PARAMETER session_replication_role TO ${roles.owner}`);
      await migrateAll(urlAs(serverUrl, roles.owner, roles.password, unfinished), roles.service);
      await rows(server, `ALTER DATABASE ${unfinished} RENAME TO ${name}`);
    });
  } finally {
    await server.destroy();
  }
}

export async function dropTemplate(serverUrl: string, name: string): Promise<void> {
  const server = openDatabase(serverUrl, 1, 'malipo-test');
  await drop(server, name, rolesOf(serverUrl, name));
  await server.destroy();
}

/** Drops the databases of a run, which its workers keep for their next files. */
export async function dropDatabases(serverUrl: string, prefix: string): Promise<void> {
  const server = openDatabase(serverUrl, 1, 'malipo-test');
  const text = 'SELECT datname AS name FROM pg_database WHERE starts_with(datname, :prefix)';
  for (const { name } of await rows<{ name: string }>(server, text, { prefix })) {
    await rows(server, `DROP DATABASE ${name} WITH (FORCE)`);
  }
  await server.destroy();
}

async function drop(server: Database, name: string, { owner, service }: Roles): Promise<void> {
  await rows(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  for (const role of [owner, service]) {
    const isThere = await rows(server, 'SELECT FROM pg_roles WHERE rolname = :role', { role });
    if (isThere.length === 0) continue;
    await rows(server, `DROP OWNED BY ${role}`);
    await rows(server, `DROP ROLE ${role}`);
  }
}

/** As the release step does. */
async function migrateAll(databaseUrl: string, serviceRole: string): Promise<void> {
  const template = openDatabase(databaseUrl, 2, 'malipo-test');
  await migrate(template);
  await createQueueBackend({ databaseUrl }).migrate();
  await grantRuntimeRights(template, serviceRole);
  await template.destroy();
}
