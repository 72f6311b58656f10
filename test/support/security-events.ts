import { type Database, rows } from '../../src/connections/database.ts';

/** The kinds of a user's security events, oldest first. */
export async function kindsOf(database: Database, user_id: string): Promise<string[]> {
  const events = await rows<{ kind: string }>(
    database,
    'SELECT kind FROM security_events WHERE user_id = :user_id ORDER BY at, id',
    { user_id },
  );
  return events.map(({ kind }) => kind);
}
