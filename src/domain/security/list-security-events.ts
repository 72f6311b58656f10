import { type Database, firstRow, rows } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import type { SecurityEvent, SecurityEventKind } from './security-events.ts';

/** An event as it is stored. */
export interface SecurityEventRecord extends Required<SecurityEvent> {
  id: string;
  at: Date;
}

/** Selects events. Fields that are left out do not matter. */
export interface SecurityEventFilter {
  kind?: SecurityEventKind | undefined;
  merchant_id?: number | undefined;
  /** The hashes of one account, under every key. */
  account_hashes?: string[] | undefined;
  ip?: string | undefined;
  since?: Date | undefined;
  /** Happened before this moment. */
  until?: Date | undefined;
}

/** An index has each of the first four with the time, and one has the time alone. */
const CONDITIONS: Readonly<Record<keyof SecurityEventFilter, string>> = {
  kind: 'kind = :kind',
  merchant_id: 'merchant_id = :merchant_id',
  account_hashes: 'account_hash = ANY (CAST(:account_hashes AS text[]))',
  ip: 'ip = CAST(:ip AS inet)',
  since: 'at >= :since',
  until: 'at < :until',
};

/** Events that an export reads at a time. */
const EXPORT_PAGE = 1_000;

/**
 * Lists security events, newest first.
 * @throws OperatorRefusal when there is no event `after`
 */
export async function listSecurityEvents(
  database: Database,
  { after, limit, ...filter }: SecurityEventFilter & KeysetPage<string>,
): Promise<SecurityEventRecord[]> {
  if (after !== undefined) await requireEvent(database, after);
  const names = Object.keys(CONDITIONS) as (keyof SecurityEventFilter)[];
  const where = [
    ...names.filter((name) => filter[name] !== undefined).map((name) => CONDITIONS[name]),
    ...(after === undefined ? [] : [BEFORE]),
  ];
  return rows<SecurityEventRecord>(
    database,
    `SELECT id, at, kind, merchant_id, app_code, user_id, staff, family, ip, account_hash, detail
     FROM security_events WHERE ${where.join(' AND ') || 'true'}
     ORDER BY at DESC, id DESC LIMIT :limit`,
    { ...filter, after, limit },
  );
}

/**
 * Reads all events that fit, newest first and page by page, so that any number takes little memory.
 * Events that are added meanwhile are left out.
 */
export async function* allSecurityEvents(
  database: Database,
  filter: SecurityEventFilter & { after?: string | undefined },
): AsyncGenerator<SecurityEventRecord[]> {
  let { after } = filter;
  for (;;) {
    const page = await listSecurityEvents(database, { ...filter, after, limit: EXPORT_PAGE });
    if (page.length > 0) yield page;
    if (page.length < EXPORT_PAGE) return;
    after = page.at(-1)!.id;
  }
}

const BEFORE = `(at, id) < (
  SELECT at, id FROM security_events WHERE id = CAST(:after AS uuid))`;

async function requireEvent(database: Database, id: string): Promise<void> {
  const event = await firstRow(
    database,
    'SELECT 1 FROM security_events WHERE id = CAST(:id AS uuid)',
    { id },
  );
  if (!event) throw new OperatorRefusal(`There is no security event ${id}`);
}
