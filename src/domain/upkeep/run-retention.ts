import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { messageOf } from '../../connections/database-errors.ts';
import { type AuditEntry, recordAudit } from '../audit/audit.ts';
import { countUpTo } from '../lists.ts';
import { type Period, RETENTION, type Retention } from './retention-rules.ts';

/** The number of rows in one transaction. It takes milliseconds, so no other work waits for it. */
const BATCH_SIZE = 1_000;
/** The number of batches that one run deletes from a table. The next run continues. */
const MAX_BATCHES = 1_000;
/** A count stops at this number, because an exact larger number is not worth its time. */
const MAX_COUNTED = 100_000;

/** The rows or months of a table that a run has removed, or would remove. */
export interface Removed {
  table: string;
  rows: number;
  months: string[];
  /** Months that were in use and were not detached. The next run tries again. */
  busy: string[];
  /** The error that stopped the work on this table, in one line; null without an error. */
  error: string | null;
}

/** Writes into the audit log what was removed from a table. */
type Audit = (trx: Transaction, details: AuditEntry['details']) => Promise<void>;

type Deleted = Extract<Retention, { since: string }>;

/**
 * Deletes rows and detaches months whose retention period is over. A run may stop anywhere and be
 * repeated, and two runs may work at once. After an error the run continues with the next table,
 * and returns the error with the rows and months that it has removed.
 */
export async function runRetention(
  database: Database,
  by: Pick<AuditEntry, 'actor' | 'reason'>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Removed[]> {
  const removed: Removed[] = [];
  for (const [table, retention] of Object.entries(RETENTION)) {
    if (retention.keep === 'forever' || retention.keep === 'state') continue;
    const done = nothing(table);
    removed.push(done);
    const what = { action: 'retention.run', merchant_id: null, subject: `table ${table}` };
    const audit: Audit = (trx, details) => recordAudit(trx, { ...by, ...what, details });
    try {
      if ('since' in retention) await deleteOld(database, done, retention, audit, signal);
      else await detachOld(database, done, retention.keep, audit, signal);
    } catch (error) {
      done.error = messageOf(error);
    }
  }
  return removed;
}

/** Counts what a run would remove now: rows up to MAX_COUNTED. */
export async function countRetention(database: Database): Promise<Removed[]> {
  const found: Removed[] = [];
  for (const [table, retention] of Object.entries(RETENTION)) {
    if ('since' in retention) {
      const old = fromOld(table, retention);
      const rows = await countUpTo(database, old, { period: retention.keep }, MAX_COUNTED);
      found.push({ ...nothing(table), rows });
    } else if ('detach' in retention) {
      const months = await oldMonths(database, table, retention.keep);
      found.push({ ...nothing(table), months });
    }
  }
  return found;
}

function nothing(table: string): Removed {
  return { table, rows: 0, months: [], busy: [], error: null };
}

/** Deletes rows in batches. It records them in the audit log at the end, also after an error. */
async function deleteOld(
  database: Database,
  done: Removed,
  retention: Deleted,
  audit: Audit,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch += 1) {
      const count = await deleteBatch(database, done.table, retention);
      done.rows += count;
      if (count < BATCH_SIZE) break;
    }
  } finally {
    const { rows } = done;
    if (rows > 0) await inTransaction(database, (trx) => audit(trx, { rows }));
  }
}

async function deleteBatch(database: Database, table: string, retention: Deleted): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `WITH old AS MATERIALIZED (
       SELECT t.ctid ${fromOld(table, retention)}
       LIMIT :batch FOR UPDATE OF t SKIP LOCKED
     ), deleted AS (
       DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM old) RETURNING 1
     )
     SELECT count(*) FROM deleted`,
    { period: retention.keep, batch: BATCH_SIZE },
  );
  return row!.count;
}

/**
 * SQL: the rows to delete, in the order of an index. Without the order the planner may expect
 * mostly old rows, and scan the table through all rows that are new or already deleted.
 */
function fromOld(table: string, { since, partOf, only }: Deleted): string {
  const isOver = `${since} < now() - CAST(:period AS interval)`;
  const age = partOf
    ? `t.${partOf.by} = ANY (ARRAY(SELECT id FROM ${partOf.table} WHERE ${isOver}))`
    : `t.${isOver}`;
  const condition = only ? ` AND (${only})` : '';
  return `FROM ${table} t WHERE ${age}${condition} ORDER BY t.${partOf?.by ?? since}`;
}

async function detachOld(
  database: Database,
  done: Removed,
  period: Period,
  audit: Audit,
  signal: AbortSignal,
): Promise<void> {
  const { table } = done;
  for (const month of await oldMonths(database, table, period)) {
    if (signal.aborted) return;
    const record = (trx: Transaction) => audit(trx, { detached: month });
    const outcome = await detachMonth(database, table, month, record);
    if (outcome === 'detached') done.months.push(month);
    if (outcome === 'busy') done.busy.push(month);
  }
}

/**
 * Short, because payments wait while this lock waits for a long report. The next run tries again.
 */
const LOCK_TIMEOUT_MS = 500;

const LOCK_NOT_AVAILABLE = '55P03';
const UNDEFINED_TABLE = '42P01';

/** Lists the month partitions of a table that ended longer ago than the period, oldest first. */
async function oldMonths(database: Database, table: string, period: Period): Promise<string[]> {
  const found = await rows<{ name: string }>(
    database,
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = CAST(:table AS regclass) AND c.relname ~ ('^' || :table || '_[0-9]{4}_[0-9]{2}$')
       AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month'
         <= (now() AT TIME ZONE 'UTC') - CAST(:period AS interval)
     ORDER BY c.relname`,
    { table, period },
  );
  return found.map(({ name }) => name);
}

/**
 * Detaches a month partition. A table with a default partition does not allow CONCURRENTLY, so
 * this waits for its lock only a moment. The service may not alter tables, so a function of the
 * database detaches the month. That function refuses a month whose period is not over.
 * @param record is called in the transaction that detaches the month.
 * @returns `busy` if the lock was not free, and `gone` if another run has detached the month.
 */
async function detachMonth(
  database: Database,
  table: string,
  month: string,
  record: (trx: Transaction) => Promise<void>,
): Promise<'detached' | 'busy' | 'gone'> {
  try {
    await inTransaction(database, async (trx) => {
      await rows(trx, `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await rows(trx, 'SELECT detach_month(:table, :month)', { table, month });
      await record(trx);
    });
    return 'detached';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === LOCK_NOT_AVAILABLE) return 'busy';
    if (code === UNDEFINED_TABLE) return 'gone';
    throw error;
  }
}
