import type { Database } from '../connections/database.ts';
import { type AuditFilter, type AuditRecord, listAudit } from './audit-log.ts';
import { csvText } from './csv.ts';

/** The columns of the audit log as a file. */
export const AUDIT_COLUMNS = [
  ...['id', 'happened_at', 'actor', 'action', 'subject'],
  ...['merchant_id', 'reason', 'details'],
] as const;

/** Lines that a file reads at a time. */
const FILE_PAGE = 1_000;

/**
 * Writes all lines that fit as CSV, newest first and page by page, so that any number takes little
 * memory. Lines that are added meanwhile are left out.
 * @param veiled hides the personal data of a line
 */
export async function* auditCsv(
  database: Database,
  filter: AuditFilter,
  veiled: (line: AuditRecord) => AuditRecord,
): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const page = await listAudit(database, { ...filter, after, limit: FILE_PAGE });
    yield csvText(
      AUDIT_COLUMNS,
      page.map((line) => cellsOf(veiled(line))),
      { withNames: after === undefined },
    );
    if (page.length < FILE_PAGE) return;
    after = page.at(-1)!.id;
  }
}

function cellsOf({ happened_at, details, ...row }: AuditRecord) {
  return { ...row, happened_at: happened_at.toISOString(), details: JSON.stringify(details) };
}
