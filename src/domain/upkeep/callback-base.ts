import { type Database, firstRow, hasRow } from '../../connections/database.ts';

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

/** Finds what a web process has recorded. @returns null before the first one has started. */
export async function findCallbackBase(database: Database): Promise<string | null> {
  const found = await firstRow<{ url: string | null }>(
    database,
    'SELECT gateway_callback_url AS url FROM installation',
  );
  return found?.url ?? null;
}
