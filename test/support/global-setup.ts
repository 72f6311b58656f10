import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runner } from 'mocha';
import { type Reaper, startReaper } from '../../scripts/sandbox/processes/reaper.ts';
import { dropIdleDatabases } from './database.ts';
import { backendsUnderTest, environment, shareServers } from './environment.ts';
import { findKeptDatabase } from './kept-database.ts';
import { REQUIRE_ALL } from './programs.ts';
import { dropDatabases, dropTemplate, makeTemplate, templateName } from './template.ts';
import { startTestServer } from './test-server.ts';

/** Others may go through it, and see nothing. */
const TRAVERSABLE = 0o711;
/** A browser that has just ended may still write. */
const REMOVE_TRIES = 10;
const stops: (() => Promise<unknown>)[] = [];

/**
 * Starts what all workers share: one PostgreSQL with a migrated template from which each
 * file clones its database. Mocha runs this once, in its main process.
 */
export async function mochaGlobalSetup(this: Runner): Promise<void> {
  if (process.env.REDIS_URL && isParallel(this)) {
    throw new Error('Workers cannot share the Redis of REDIS_URL: add --no-parallel');
  }
  const reaper = await startReaper();
  stops.push(() => reaper.close());
  const folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
  // Some servers run as another user when the tests run as root.
  chmodSync(folder, TRAVERSABLE);
  reaper.removeFolder(folder);
  const databasePrefix = `malipo_test_${randomBytes(4).toString('hex')}_`;
  shareServers({ folder, databasePrefix, ...(await findDatabase(folder, reaper)) });
  console.log(`Queue backends under test: ${backendsUnderTest().join(' and ')}`);
}

/** The types of Mocha lack this method. */
function isParallel(runner: Runner): boolean {
  return (runner as unknown as { isParallelMode(): boolean }).isParallelMode();
}

/** Leaves nothing behind, but for the logs of a run that has failed. */
export async function mochaGlobalTeardown(this: Runner): Promise<void> {
  await dropIdleDatabases();
  await dropDatabases(environment.serverUrl, environment.databasePrefix);
  for (const stop of stops.reverse()) await stop();
  if (this.failures > 0) console.log(`What the processes wrote: ${environment.folder}`);
  else rmSync(environment.folder, { recursive: true, force: true, maxRetries: REMOVE_TRIES });
}

/** Uses the server of DATABASE_URL, else the one that `npm run test:db` keeps, else its own. */
async function findDatabase(
  folder: string,
  reaper: Reaper,
): Promise<{ serverUrl: string; template: string }> {
  const own = process.env.DATABASE_URL;
  const kept = own || REQUIRE_ALL ? null : await findKeptDatabase();
  const serverUrl = own || kept || (await startServer(folder, reaper));
  // On somebody's server the template is this run's alone, and goes with it.
  const template = own ? `malipo_test_template_${process.pid}` : templateName();
  await makeTemplate(serverUrl, template);
  if (own) stops.push(() => dropTemplate(serverUrl, template));
  return { serverUrl, template };
}

async function startServer(folder: string, reaper: Reaper): Promise<string> {
  const server = await startTestServer(join(folder, 'postgres'), reaper);
  stops.push(() => server.stop());
  return server.url;
}
