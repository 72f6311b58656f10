import { loadConfig } from '../src/config.ts';
import { databaseProblem, messageOf, openDatabase } from '../src/database.ts';
import { createQueueBackend } from '../src/jobs/backend.ts';
import { BootError, runMain } from '../src/lifecycle.ts';
import { migrate } from '../src/migrations.ts';

/** The release step: brings the database, and the queue backend's tables, up to this release. */
await runMain(async () => {
  const config = loadConfig();
  const database = openDatabase(config.databaseUrl, 2, 'malipo-migrate', true);
  try {
    const problem = await databaseProblem(database);
    if (problem) throw new BootError(problem);
    const ran = await migrate(database).catch((error) => {
      throw new BootError(
        `A migration failed; once that is mended, run it again: ${messageOf(error)}`,
      );
    });
    await createQueueBackend(config).migrate();
    console.log(ran.length > 0 ? `Migrated: ${ran.join(', ')}` : 'The database is up to date');
  } finally {
    await database.destroy();
  }
});
