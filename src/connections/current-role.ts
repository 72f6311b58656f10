import { type Database, firstRow } from './database.ts';

/** Returns the role of a connection. A pooler may use another one than its address names. */
export async function currentRole(database: Database): Promise<string> {
  return (await firstRow<{ role: string }>(database, 'SELECT current_user AS role'))!.role;
}
