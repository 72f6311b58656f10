import { chmodSync, chownSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { startEmbeddedPostgres } from '../../scripts/sandbox/embedded/postgres.ts';
import type { Reaper } from '../../scripts/sandbox/embedded/reaper.ts';
import { firstRow, openDatabase, rows } from '../../src/connections/database.ts';

/** The server that tests start for themselves. */
export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

const SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
};
const MEMORY = '/dev/shm';
const MEMORY_NEEDED_BYTES = 2 ** 30;

/** Starts a PostgreSQL server whose databases are in memory where the system allows that. */
export async function startTestServer(folder: string, reaper: Reaper): Promise<TestServer> {
  const postgres = await startEmbeddedPostgres({ folder, reaper, settings: SETTINGS });
  const memory = hasMemory() ? await useMemory(postgres.url, reaper) : null;
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      if (memory) rmSync(memory, { recursive: true, force: true });
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

/** A clone of a database is hundreds of files. On a disk they cost ten times as much. */
async function useMemory(url: string, reaper: Reaper): Promise<string> {
  const folder = mkdtempSync(`${MEMORY}/malipo-test-`);
  reaper.removeFolder(folder);
  const server = openDatabase(url, 1, 'malipo-test');
  const data = await firstRow<{ data_directory: string }>(server, 'SHOW data_directory');
  const { uid, gid } = statSync(data!.data_directory);
  chownSync(folder, uid, gid);
  chmodSync(folder, 0o700);
  await rows(server, `CREATE TABLESPACE memory LOCATION '${folder}'`);
  // Every new database is where its template is.
  await rows(server, 'ALTER DATABASE template1 SET TABLESPACE memory');
  await server.destroy();
  return folder;
}
