import { randomBytes } from 'node:crypto';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { environment } from './environment.ts';

export interface TestDatabase {
  name: string;
  url: string;
  database: Database;
  drop(): Promise<void>;
}

/**
 * Makes a database that is migrated and empty, or a copy of one that nobody is connected to. An
 * empty one is an installation of its own. A copy is the same as what it is copied from.
 */
export async function createTestDatabase(template = environment.template): Promise<TestDatabase> {
  const name = `malipo_test_${randomBytes(6).toString('hex')}`;
  // Copying its files costs less than logging each page of them.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = environment.urlOf(name);
  const database = openDatabase(url, 10, 'malipo-test');
  if (template === environment.template) await rows(database, NEW_INSTALLATION);
  return {
    ...{ name, url, database },
    drop: async () => {
      await database.destroy();
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

const NEW_INSTALLATION = `DO $$ BEGIN
  ALTER TABLE installation DISABLE TRIGGER installation_kept;
  UPDATE installation SET id = gen_random_uuid();
  ALTER TABLE installation ENABLE TRIGGER installation_kept;
END $$`;

async function onServer(statement: string): Promise<void> {
  const server = openDatabase(environment.serverUrl, 1, 'malipo-test');
  try {
    await rows(server, statement);
  } finally {
    await server.destroy();
  }
}
