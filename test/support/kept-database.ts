import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDatabase, rows } from '../../src/connections/database.ts';

/** Where `npm run test:db` keeps its data and its address. */
export const KEPT_FOLDER = fileURLToPath(new URL('../../.test-db/', import.meta.url));
const ADDRESS_FILE = `${KEPT_FOLDER}address`;

export function noteKeptDatabase(url: string): void {
  mkdirSync(KEPT_FOLDER, { recursive: true });
  writeFileSync(ADDRESS_FILE, url, { mode: 0o600 });
}

export function forgetKeptDatabase(): void {
  rmSync(ADDRESS_FILE, { force: true });
}

/** Returns the address of the server that `npm run test:db` keeps, or null when none answers. */
export async function findKeptDatabase(): Promise<string | null> {
  if (!existsSync(ADDRESS_FILE)) return null;
  const url = readFileSync(ADDRESS_FILE, 'utf8');
  const server = openDatabase(url, 1, 'malipo-test');
  try {
    await rows(server, 'SELECT 1');
    return url;
  } catch {
    return null;
  } finally {
    await server.destroy();
  }
}
