import { chownSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { startEmbeddedPostgres } from '../../scripts/sandbox/embedded/postgres.ts';
import type { Reaper } from '../../scripts/sandbox/processes/reaper.ts';
import { findServerUser } from '../../scripts/sandbox/processes/server-user.ts';
import { openDatabase, rows } from '../../src/connections/database.ts';

/** The server that tests start for themselves. */
export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** A plan depends on statistics, so only a test that asks for them gets some. */
const SETTINGS = { wal_level: 'minimal', max_wal_senders: '0', autovacuum: 'off' };
const MEMORY = '/dev/shm';
const MEMORY_NEEDED_BYTES = 2 ** 30;

/** Starts a PostgreSQL server with its databases in memory, where the system has room there. */
export async function startTestServer(folder: string, reaper: Reaper): Promise<TestServer> {
  const postgres = await startEmbeddedPostgres({ folder, reaper, settings: SETTINGS });
  if (!hasMemory()) return postgres;
  const memory = mkdtempSync(`${MEMORY}/malipo-test-`);
  reaper.removeFolder(memory);
  const user = findServerUser();
  if (user) chownSync(memory, user.uid, user.gid);
  await moveDatabases(postgres.url, memory);
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      rmSync(memory, { recursive: true, force: true });
    },
  };
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > MEMORY_NEEDED_BYTES;
  } catch {
    return false;
  }
}

/** A database is hundreds of files, and each test file copies one. On a disk that costs ten times as much. */
async function moveDatabases(url: string, folder: string): Promise<void> {
  const server = openDatabase(url, 1, 'malipo-test');
  await rows(server, `CREATE TABLESPACE memory LOCATION '${folder}'`);
  // A new database is where its template is.
  await rows(server, 'ALTER DATABASE template1 SET TABLESPACE memory');
  await server.destroy();
}
