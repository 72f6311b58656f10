import { randomBytes } from 'node:crypto';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { environment } from './environment.ts';

export interface TestDatabase {
  url: string;
  database: Database;
  drop(): Promise<void>;
}

/** A migrated, empty database of its own. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `malipo_test_${randomBytes(6).toString('hex')}`;
  // Copying its files costs less than logging each page of them.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${environment.template} STRATEGY FILE_COPY`);
  const url = environment.urlOf(name);
  const database = openDatabase(url, 10, 'malipo-test');
  return {
    url,
    database,
    drop: async () => {
      await database.destroy();
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const server = openDatabase(environment.serverUrl, 1, 'malipo-test');
  try {
    await rows(server, statement);
  } finally {
    await server.destroy();
  }
}
