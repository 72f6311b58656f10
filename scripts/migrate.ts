import type { DatabaseAddress } from '../src/connections/address.ts';
import { defaultPoolMax } from '../src/connections/connection-budget.ts';
import { type Database, openDatabase } from '../src/connections/database.ts';
import { messageOf } from '../src/connections/database-errors.ts';
import { roleWarning } from '../src/connections/database-warnings.ts';
import { migrate, setRoleDefaults } from '../src/connections/migrations.ts';
import { currentRole, databaseProblem } from '../src/connections/readiness.ts';
import { grantRuntimeRights } from '../src/domain/upkeep/runtime-rights.ts';
import { queueBackendOf } from '../src/jobs/backend.ts';
import { BootError, runMain } from '../src/process/lifecycle.ts';
import { openConfig } from '../src/service/service.ts';

/**
 * The release step: brings the database, and the queue backend's tables, up to this release. If
 * the service has a role of its own, gives it its rights.
 */
await runMain(async () => {
  const config = await openConfig();
  const role = await connected(config, 1, currentRole);
  // Past the pooler if there is a way: building an index on a large table outlasts its limits.
  const direct = config.databaseMigrationUrl
    ? { ...config, databaseUrl: config.databaseMigrationUrl, databasePooling: 'session' as const }
    : config;
  await connected(direct, defaultPoolMax('migrate'), async (database) => {
    const ran = await orStop('A migration failed; once that is mended, run it again', () =>
      migrate(database),
    );
    await (await queueBackendOf({ config: direct, database })).migrate();
    console.log(ran.length > 0 ? `Migrated: ${ran.join(', ')}` : 'The database is up to date');
    if (role === (await currentRole(database))) return;
    await orStop(`The role ${role} could not be given its rights`, () =>
      grantRuntimeRights(database, role),
    );
    const warning = await connected(config, 1, roleWarning);
    console.log(warning ?? `The role ${role} has the rights that the service needs, and no others`);
  });
  if (config.databasePooling !== 'transaction') return;
  // Over the address that the service uses, since the defaults belong to its role.
  await connected(config, 1, async (database) => {
    const isNew = await orStop('The defaults of the role could not be set', () =>
      setRoleDefaults(database),
    );
    console.log(`The settings of sessions are defaults of the role${isNew ? ' now' : ''}`);
  });
});

/** Runs `work` with a pool of its own, which waits as long as migrations may take. */
async function connected<Result>(
  address: DatabaseAddress,
  poolMax: number,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(address, poolMax, 'malipo-migrate', true);
  try {
    const problem = await databaseProblem(database);
    if (problem) throw new BootError(problem);
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/** @throws BootError that begins with these words when `work` fails */
function orStop<Result>(words: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error) => {
    throw new BootError(`${words}: ${messageOf(error)}`);
  });
}
