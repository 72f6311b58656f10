import { randomBytes } from 'node:crypto';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { environment } from './environment.ts';

export interface TestDatabase {
  name: string;
  /** As the service's role. */
  url: string;
  /** Has the rights of the service, and no others. */
  database: Database;
  ownerUrl: string;
  /** For what only the owner of the tables may. Connects when it is first used. */
  owner: Database;
  drop(): Promise<void>;
}

/**
 * Makes a database that is migrated and empty, or a copy of one that nobody is connected to. An
 * empty one is an installation of its own. A copy is the same as what it is copied from.
 */
export async function createTestDatabase(template = environment.template): Promise<TestDatabase> {
  const name = `malipo_test_${randomBytes(6).toString('hex')}`;
  await asSuperuser(null, [
    // Copying its files costs less than logging each page of them.
    `CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${environment.roles.owner} STRATEGY FILE_COPY`,
    `REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`,
  ]);
  const [url, ownerUrl] = [environment.urlOf(name), environment.ownerUrlOf(name)];
  if (template === environment.template) await makeNewInstallation(ownerUrl);
  const database = openDatabase(url, 10, 'malipo-test');
  const owner = openDatabase(ownerUrl, 2, 'malipo-test');
  return {
    ...{ name, url, database, ownerUrl, owner },
    drop: async () => {
      await database.destroy();
      await owner.destroy();
      await asSuperuser(null, [`DROP DATABASE ${name} WITH (FORCE)`]);
    },
  };
}

/** Leaves no connection, because somebody may copy the database. */
async function makeNewInstallation(ownerUrl: string): Promise<void> {
  const owner = openDatabase(ownerUrl, 1, 'malipo-test');
  try {
    await rows(owner, NEW_INSTALLATION);
  } finally {
    await owner.destroy();
  }
}

const NEW_INSTALLATION = `DO $$ BEGIN
  ALTER TABLE installation DISABLE TRIGGER installation_kept;
  UPDATE installation SET id = gen_random_uuid();
  ALTER TABLE installation ENABLE TRIGGER installation_kept;
END $$`;

/** Does what no role of a database may, in the database of this name; null is the server's own. */
export async function asSuperuser(name: string | null, statements: string[]): Promise<void> {
  const url = new URL(environment.serverUrl);
  if (name !== null) url.pathname = `/${name}`;
  const server = openDatabase(url.href, 1, 'malipo-test');
  try {
    for (const statement of statements) await rows(server, statement);
  } finally {
    await server.destroy();
  }
}
