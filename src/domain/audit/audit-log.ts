import { type Database, firstRow, rows } from '../../connections/database.ts';
import { csvText } from '../csv.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import type { AuditEntry } from './audit.ts';
import type { Origin } from './origin.ts';

/** A line of the audit log as it is stored. */
export interface AuditRecord extends AuditEntry, Origin {
  id: string;
  happened_at: Date;
  /** The database's own word about who was connected. */
  database_role: string;
}

/** Selects lines of the audit log. Fields that are left out do not matter. */
export interface AuditFilter {
  actor?: string | undefined;
  /** The first word of the action, such as `app` of `app.suspend`. */
  noun?: string | undefined;
  merchant_id?: number | undefined;
  /** Changed things as their operator names them, such as `app 5001`. */
  subjects?: string[] | undefined;
  since?: Date | undefined;
  /** Happened before this moment. */
  until?: Date | undefined;
  /** True: only reads of data, which changed nothing. Default: only changes. */
  reads?: boolean | undefined;
}

/** An index has each of the first four with the time, and one has the time alone. A read has no reason. */
const CONDITIONS: Readonly<Record<keyof AuditFilter, string>> = {
  actor: 'actor = :actor',
  noun: `split_part(action, '.', 1) = :noun`,
  merchant_id: 'merchant_id = :merchant_id',
  subjects: 'subject = ANY (CAST(:subjects AS text[]))',
  since: 'happened_at >= :since',
  until: 'happened_at < :until',
  reads: '(reason IS NULL) = :reads',
};

/**
 * Lists lines of the audit log, newest first.
 * @throws OperatorRefusal when there is no line `after`
 */
export async function listAudit(
  database: Database,
  { after, limit, ...given }: AuditFilter & KeysetPage<string>,
): Promise<AuditRecord[]> {
  const filter = { ...given, reads: given.reads ?? false };
  if (after !== undefined) await requireLine(database, after);
  const names = Object.keys(CONDITIONS) as (keyof AuditFilter)[];
  const where = [
    ...names.filter((name) => filter[name] !== undefined).map((name) => CONDITIONS[name]),
    ...(after === undefined ? [] : [BEFORE]),
  ];
  return rows<AuditRecord>(
    database,
    `SELECT id, happened_at, actor, action, merchant_id, subject, reason, details, door, address,
       session, request, database_role FROM audit_log
     WHERE ${where.join(' AND ') || 'true'}
     ORDER BY happened_at DESC, id DESC LIMIT :limit`,
    { ...filter, after, limit },
  );
}

const BEFORE = `(happened_at, id) < (
  SELECT happened_at, id FROM audit_log WHERE id = CAST(:after AS uuid))`;

async function requireLine(database: Database, id: string): Promise<void> {
  const line = await firstRow(database, 'SELECT 1 FROM audit_log WHERE id = CAST(:id AS uuid)', {
    id,
  });
  if (!line) throw new OperatorRefusal(`The audit log has no line ${id}`);
}

/** The columns of the audit log as a file. */
export const AUDIT_COLUMNS = [
  ...['id', 'happened_at', 'actor', 'action', 'subject'],
  ...['merchant_id', 'reason', 'details', 'door', 'address', 'session', 'request'],
  'database_role',
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
