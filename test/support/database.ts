import { randomBytes } from 'node:crypto';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { environment } from './environment.ts';

export interface TestDatabase {
  name: string;
  url: string;
  database: Database;
  drop(): Promise<void>;
}

/** Makes a database that is migrated and empty, or a copy of one that nobody is connected to. */
export async function createTestDatabase(template = environment.template): Promise<TestDatabase> {
  const name = `malipo_test_${randomBytes(6).toString('hex')}`;
  // Copying its files costs less than logging each page of them.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = environment.urlOf(name);
  const database = openDatabase(url, 10, 'malipo-test');
  return {
    ...{ name, url, database },
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
