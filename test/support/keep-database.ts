import { once } from 'node:events';
import { startReaper } from '../../scripts/sandbox/processes/reaper.ts';
import {
  findKeptDatabase,
  forgetKeptDatabase,
  KEPT_FOLDER,
  noteKeptDatabase,
} from './kept-database.ts';
import { makeTemplate, templateName } from './template.ts';
import { startTestServer } from './test-server.ts';

/** Keeps a PostgreSQL server with a migrated template running, so that a test file starts at once. */
async function keepDatabase(): Promise<void> {
  if (await findKeptDatabase()) {
    console.log('A database for tests runs already.');
    return;
  }
  const reaper = await startReaper();
  const server = await startTestServer(KEPT_FOLDER, reaper);
  await makeTemplate(server.url, templateName());
  noteKeptDatabase(server.url);
  console.log('The database for tests is ready. Ctrl-C ends it.');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  forgetKeptDatabase();
  await server.stop();
  await reaper.close();
}

await keepDatabase();
