import { type Database, firstRow } from './database.ts';

/**
 * Returns the id that the first migration gave this installation. A restored backup has the same.
 * It begins every key in Redis, so installations that share a Redis do not take each other's jobs.
 */
export async function installationId(database: Database): Promise<string> {
  const found = await firstRow<{ id: string }>(database, 'SELECT id FROM installation');
  return found!.id;
}
