import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { holdLease, whileHeld } from '../../connections/locks.ts';
import type { KeysetPage } from '../lists.ts';
import { MOVED_AT } from '../settlement/sources.ts';
import { VEILED } from '../veil.ts';
import type { MissingMovement } from './missing-movements.ts';
import type { StatementPreview } from './preview-statement.ts';
import {
  FROM_GATEWAY,
  keepRowsOf,
  type LineResult,
  type OwnLine,
  type StatementLine,
  type StoredLine,
} from './statement.ts';

/** The findings of a comparison, as they are stored. */
export interface ImportResult {
  lines: Record<LineResult, number>;
  /** The number of lines with a time outside of the period. */
  outside: number;
  /** What it leaves open, one line each. */
  not_covered: string[];
  settled: number;
  answered: number;
  failed: number;
  missing_count: number;
  /** The first of them. */
  missing: MissingMovement[];
}

/** A statement as it is stored, without its lines. */
export interface StatementImport {
  id: string;
  gateway: string;
  channel: number;
  /** Whole UTC days, YYYY-MM-DD, both included. */
  period_from: string;
  period_to: string;
  source: string;
  /** The e-mail address of the member who uploaded the file. Null for a statement without an upload. */
  brought_by: string | null;
  imported_at: Date;
  covers: StatementLine['kind'][];
  complete_until: Date | null;
  preview: StatementPreview | null;
  /** Null while it waits for somebody's word. */
  started_at: Date | null;
  /** A process is comparing it. One that has begun and neither ended nor runs has stopped. */
  is_running: boolean;
  /** It has waited too long for somebody's word. */
  has_lapsed: boolean;
  /** Null while the comparison has not ended. */
  result: ImportResult | null;
}

/** A statement that waits longer is out of date: the books went on. */
export const DRAFT_MINUTES = 60;

/** SQL: nobody has begun the comparison in time. */
const HAS_LAPSED = `(started_at IS NULL
  AND imported_at <= now() - interval '${DRAFT_MINUTES} minutes')`;

const COLUMNS = `id, gateway, channel, CAST(period_from AS text) AS period_from,
  CAST(period_to AS text) AS period_to, source, brought_by, imported_at, covers, complete_until,
  preview, started_at, result,
  result IS NULL AND EXISTS (SELECT FROM leases
    WHERE name = 'statement ' || statement_imports.id AND held_until > now()) AS is_running,
  ${HAS_LAPSED} AS has_lapsed`;

/** Lists imported statements, the newest first. Ids sort by time. */
export function listImports(
  database: Database,
  { after, limit }: KeysetPage<string>,
): Promise<StatementImport[]> {
  return rows<StatementImport>(
    database,
    `SELECT ${COLUMNS} FROM statement_imports
     WHERE CAST(:after AS uuid) IS NULL OR id < CAST(:after AS uuid)
     ORDER BY id DESC LIMIT :limit`,
    { after: after ?? null, limit },
  );
}

export function findImport(database: Database, id: string): Promise<StatementImport | undefined> {
  return firstRow<StatementImport>(
    database,
    `SELECT ${COLUMNS} FROM statement_imports WHERE id = CAST(:id AS uuid)`,
    { id },
  );
}

/** A comparison whose lease was not renewed for this long has stopped: its process is gone. */
const LEASE_MS = 30_000;

function leaseOf(id: string): string {
  return `statement ${id}`;
}

/**
 * Begins the comparison of a statement, anew if it has stopped. A draft's rows of own money count now.
 * @param holder names the process that compares
 * @param agreed_by is the e-mail address of the member who stands for the file besides the one who has brought it
 * @returns false when the comparison is under way or has ended, or when the draft has lapsed
 */
export async function beginComparison(
  trx: Transaction,
  id: string,
  holder: string,
  agreed_by: string | null,
): Promise<boolean> {
  const isMine = await holdLease(trx, leaseOf(id), holder, LEASE_MS);
  if (!isMine) return false;
  const begun = await firstRow<{ gateway: string; own: OwnLine[] | null }>(
    trx,
    `UPDATE statement_imports SET started_at = clock_timestamp(), agreed_by = :agreed_by
     WHERE id = CAST(:id AS uuid) AND result IS NULL AND NOT ${HAS_LAPSED} RETURNING gateway, own`,
    { id, agreed_by },
  );
  if (begun?.own) await keepRowsOf(trx, { gateway: begun.gateway, own: begun.own });
  return begun !== undefined;
}

/**
 * Says that a comparison goes on while it does. When it fails, or its process ends, the page of
 * the statement says that it has stopped. Two at once would book nothing twice.
 */
export function whileComparing<Result>(
  database: Database,
  id: string,
  holder: string,
  compare: () => Promise<Result>,
): Promise<Result> {
  return whileHeld(database, { name: leaseOf(id), holder, durationMs: LEASE_MS }, compare);
}

/** Keeps what the comparison of a statement has found. */
export async function keepResult(
  trx: Transaction,
  id: string,
  result: ImportResult,
): Promise<void> {
  await rows(
    trx,
    'UPDATE statement_imports SET result = CAST(:result AS jsonb) WHERE id = CAST(:id AS uuid)',
    { id, result: JSON.stringify(result) },
  );
}

/** Lists the lines of a statement that are no part of the books, in their order. */
export function listBreaks(
  database: Database,
  import_id: string,
  { after = 0, limit }: KeysetPage<number>,
): Promise<StoredLine[]> {
  return rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines
     WHERE import_id = :import_id AND line_no > :after AND result IN ('unknown', 'contradicts')
     ORDER BY line_no LIMIT :limit`,
    { import_id, after, limit },
  );
}

/** The lines that a person sees before the comparison. */
const PREVIEWED_LINES = 10;

/** A line as it was understood, with a veiled account. */
export type UnderstoodLine = Omit<StoredLine, 'result'> & { undecided: boolean };

export async function firstLines(
  executor: Database | Transaction,
  import_id: string,
): Promise<UnderstoodLine[]> {
  const lines = await rows<UnderstoodLine>(
    executor,
    `SELECT line_no, kind, reference, account, amount_cents, trans_id, completed_at, undecided
     FROM statement_lines WHERE import_id = :import_id ORDER BY line_no LIMIT ${PREVIEWED_LINES}`,
    { import_id },
  );
  return lines.map((line) => ({ ...line, account: line.account && VEILED.account(line.account) }));
}

/** What our own records tell of the statements that a gateway gives. */
export interface StatementRecord {
  /** The account was registered for statements from here. */
  isRegistered: boolean;
  /** One of its statements has had a line. */
  hasListed: boolean;
  /** Customers have paid to it in the last two days, as the gateway has told in other ways. */
  hasCollected: boolean;
}

export async function readStatementRecord(
  database: Database,
  gateway: string,
): Promise<StatementRecord> {
  const record = await firstRow<StatementRecord>(
    database,
    `SELECT EXISTS (SELECT FROM audit_log
         WHERE subject = 'gateway ' || :gateway AND action LIKE '%.register'
           AND reason IS NOT NULL) AS "isRegistered",
       EXISTS (SELECT FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
         WHERE i.gateway = :gateway AND i.source = '${FROM_GATEWAY}') AS "hasListed",
       EXISTS (SELECT FROM movements m
         WHERE m.gateway = :gateway AND m.payment_kind = 'collection' AND m.told_by <> 'support'
           AND ${MOVED_AT} > now() - interval '46 hours'
           AND ${MOVED_AT} < now() - interval '1 hour') AS "hasCollected"`,
    { gateway },
  );
  return record!;
}
