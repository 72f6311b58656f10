import { type Database, firstRow, hasRow } from '../../connections/database.ts';
import { IS_OTHER_DATABASE } from './other-database.ts';

/**
 * Records where gateways reach the web process that starts. Any web process takes any callback. So
 * of several, the one that started last gets them, which does not matter behind one address.
 * @returns whether it was another address before.
 */
export async function recordCallbackBase(database: Database, url: string): Promise<boolean> {
  return hasRow(
    database,
    `UPDATE installation SET gateway_callback_url = :url
     WHERE gateway_callback_url IS DISTINCT FROM :url RETURNING id`,
    { url },
  );
}

/**
 * Finds what a web process has recorded.
 * @returns null before the first one has started; and on a copy of the database, whose payments must
 * not be told of at the address of the original.
 */
export async function findCallbackBase(database: Database): Promise<string | null> {
  const found = await firstRow<{ url: string | null }>(
    database,
    `SELECT gateway_callback_url AS url FROM installation WHERE NOT ${IS_OTHER_DATABASE}`,
  );
  return found?.url ?? null;
}
