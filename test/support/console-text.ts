import { type Database, firstRow } from '../../src/connections/database.ts';
import type { ConsoleAnswer } from './console-client.ts';

/** The words of a page, without its tags. */
export function wordsOf({ text }: Pick<ConsoleAnswer, 'text'>): string {
  return text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
}

/** What an action's page says will happen. */
export function previewIn({ text }: Pick<ConsoleAnswer, 'text'>): string {
  return [...text.matchAll(/<li>(.*?)<\/li>/g)].map(([, line]) => line).join(' ');
}

export interface AuditLine {
  actor: string;
  action: string;
  merchant_id: number | null;
  subject: string;
  reason: string | null;
  details: Record<string, unknown>;
}

/** The newest line of the audit log: of a change, or of a read. */
export async function lastAudit(database: Database, reads = false): Promise<AuditLine> {
  const line = await firstRow<AuditLine>(
    database,
    `SELECT actor, action, merchant_id, subject, reason, details FROM audit_log
     WHERE (reason IS NULL) = :reads ORDER BY id DESC LIMIT 1`,
    { reads },
  );
  return line!;
}
