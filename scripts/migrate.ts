import { defaultPoolMax } from '../src/connections/connection-budget.ts';
import { openDatabase } from '../src/connections/database.ts';
import { messageOf } from '../src/connections/database-errors.ts';
import { databaseProblem } from '../src/connections/database-fault.ts';
import { migrate } from '../src/connections/migrations.ts';
import { setRoleDefaults } from '../src/connections/role-defaults.ts';
import { queueBackendOf } from '../src/jobs/backend.ts';
import { type Config, loadConfig } from '../src/process/config.ts';
import { BootError, runMain } from '../src/process/lifecycle.ts';

/** The release step: brings the database, and the queue backend's tables, up to this release. */
await runMain(async () => {
  const config = loadConfig();
  // Past the pooler if there is a way: building an index on a large table outlasts its limits.
  const direct = config.databaseMigrationUrl
    ? { ...config, databaseUrl: config.databaseMigrationUrl, databasePooling: 'session' as const }
    : config;
  const database = openDatabase(direct, defaultPoolMax('migrate'), 'malipo-migrate', true);
  try {
    const problem = await databaseProblem(database);
    if (problem) throw new BootError(problem);
    const ran = await migrate(database).catch((error) => {
      throw new BootError(
        `A migration failed; once that is mended, run it again: ${messageOf(error)}`,
      );
    });
    await (await queueBackendOf({ config: direct, database })).migrate();
    console.log(ran.length > 0 ? `Migrated: ${ran.join(', ')}` : 'The database is up to date');
  } finally {
    await database.destroy();
  }
  if (config.databasePooling === 'transaction') await setDefaults(config);
});

/** Over the address that the service uses, since they are those of its role. */
async function setDefaults(config: Config): Promise<void> {
  const database = openDatabase(config, 1, 'malipo-migrate');
  try {
    const isNew = await setRoleDefaults(database);
    console.log(`The settings of sessions are defaults of the role${isNew ? ' now' : ''}`);
  } catch (error) {
    throw new BootError(`The defaults of the role could not be set: ${messageOf(error)}`);
  } finally {
    await database.destroy();
  }
}
