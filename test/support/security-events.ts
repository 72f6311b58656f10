import { type Database, rows } from '../../src/connections/database.ts';
import type { SecurityEventRecord } from '../../src/domain/security/list-security-events.ts';

/** Reads the security events of a kind, or all, oldest first. */
export function securityEvents(database: Database, kind?: string): Promise<SecurityEventRecord[]> {
  return rows<SecurityEventRecord>(
    database,
    `SELECT * FROM security_events WHERE kind = coalesce(:kind, kind) ORDER BY at, id`,
    { kind: kind ?? null },
  );
}
