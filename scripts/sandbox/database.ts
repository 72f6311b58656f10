import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { currentRole, databaseProblem } from '../../src/connections/readiness.ts';
import { grantRuntimeRights } from '../../src/domain/upkeep/runtime-rights.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import type { Config } from '../../src/process/config.ts';
import { EmbeddedServiceError } from './processes/embedded-service-error.ts';
import { makeRoles, urlAs } from './roles.ts';
import { refuseForeignDatabase } from './seed.ts';

/** The name of the database and of the service's role. */
const NAME = 'malipo';
const OWNER = 'malipo_owner';

/** Makes a database with two roles. @returns its address as the service's role, and as the owner */
export async function makeDatabase(serverUrl: string): Promise<[service: string, owner: string]> {
  const password = randomBytes(24).toString('hex');
  const server = openDatabase(serverUrl, 1, 'malipo-sandbox');
  try {
    await makeRoles(server, NAME, { owner: OWNER, service: NAME, password });
  } finally {
    await server.destroy();
  }
  return [urlAs(serverUrl, NAME, password, NAME), urlAs(serverUrl, OWNER, password, NAME)];
}

/** Does what the release step does. Returns the place of the queues in words. */
export async function prepareDatabase(config: Config, ownerUrl: string): Promise<string> {
  const ofOwner = { ...config, databaseUrl: ownerUrl };
  const database = openDatabase(ofOwner, 2, 'malipo-sandbox');
  try {
    const problem = await databaseProblem(database);
    if (problem) throw new EmbeddedServiceError(problem);
    await migrate(database);
    await refuseForeignDatabase(database);
    const backend = await queueBackendOf({ config: ofOwner, database });
    await backend.migrate();
    const queueProblem = await backend.problem();
    if (queueProblem) throw new EmbeddedServiceError(queueProblem);
    const role = await roleOf(config);
    if (role !== (await currentRole(database))) await grantRuntimeRights(database, role);
    return backend.name === 'redis' ? 'Redis' : 'PostgreSQL (set REDIS_URL to use Redis)';
  } finally {
    await database.destroy();
  }
}

async function roleOf(config: Config): Promise<string> {
  const database = openDatabase(config, 1, 'malipo-sandbox');
  try {
    return await currentRole(database);
  } finally {
    await database.destroy();
  }
}
