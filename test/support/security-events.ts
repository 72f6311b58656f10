import { type Database, rows } from '../../src/connections/database.ts';
import type { SecurityEventRecord } from '../../src/domain/security/security-events.ts';

/** Reads the security events of a kind, or all, oldest first. */
export function securityEvents(database: Database, kind?: string): Promise<SecurityEventRecord[]> {
  return rows<SecurityEventRecord>(
    database,
    `SELECT * FROM security_events WHERE kind = coalesce(:kind, kind) ORDER BY at, id`,
    { kind: kind ?? null },
  );
}

/** The kinds of a user's security events, oldest first. */
export async function kindsOf(database: Database, user_id: string): Promise<string[]> {
  const events = await securityEvents(database);
  return events.filter((event) => event.user_id === user_id).map(({ kind }) => kind);
}
