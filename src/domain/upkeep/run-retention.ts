import {
  type Database,
  firstRow,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { messageOf } from '../../connections/database-errors.ts';
import { recordAudit } from '../audit.ts';
import { detachMonth, oldMonths } from './old-months.ts';
import { type Period, RETENTION, type Retention } from './periods.ts';

/** Rows that one transaction deletes: milliseconds, so that nothing waits for it. */
const BATCH_SIZE = 1_000;
/** Batches of one table in one run; what is left goes in the next. */
const MAX_BATCHES = 1_000;
/** Counting further would only take longer. */
const MAX_COUNTED = 100_000;

/** What of a table has gone, or would go: rows, or the names of its months. */
export interface Removed {
  table: string;
  rows: number;
  months: string[];
  /** Months that were in use, and so are still there: the next run tries again. */
  busy: string[];
  /** What has ended the work on this table before its end, in one line; null when nothing has. */
  error: string | null;
}

/** On whose behalf, for the audit log. */
export interface RetentionActor {
  actor: string;
  reason: string;
}

type Deleted = Extract<Retention, { since: string }>;

/**
 * Deletes what has been kept for long enough, and detaches the months that are over. May be
 * stopped anywhere, run again, and run twice at once. An error of one table is told with what
 * was done, and keeps no other table from its turn.
 */
export async function runRetention(
  database: Database,
  by: RetentionActor,
  signal: AbortSignal = new AbortController().signal,
): Promise<Removed[]> {
  const removed: Removed[] = [];
  for (const [table, retention] of Object.entries(RETENTION)) {
    if (typeof retention.keep === 'string') continue;
    const done = nothing(table);
    removed.push(done);
    try {
      if ('since' in retention) await deleteOld(database, done, retention, by, signal);
      else await detachOld(database, done, retention.keep, by, signal);
    } catch (error) {
      done.error = messageOf(error);
    }
  }
  return removed;
}

/** What a run would remove now; rows are counted up to MAX_COUNTED. */
export async function countRetention(database: Database): Promise<Removed[]> {
  const found: Removed[] = [];
  for (const [table, retention] of Object.entries(RETENTION)) {
    if ('since' in retention) {
      const row = await firstRow<{ count: number }>(
        database,
        `SELECT count(*) FROM (SELECT ${fromOld(table, retention)} LIMIT :most) old`,
        { ...bindingsOf(retention.keep), most: MAX_COUNTED },
      );
      found.push({ ...nothing(table), rows: row!.count });
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

/** The line of the audit log comes with the last batch, or with the error that ends it early. */
async function deleteOld(
  database: Database,
  done: Removed,
  retention: Deleted,
  by: RetentionActor,
  signal: AbortSignal,
): Promise<void> {
  const { table } = done;
  try {
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch += 1) {
      const count = await deleteBatch(database, table, retention);
      done.rows += count;
      if (count < BATCH_SIZE) break;
    }
  } finally {
    const { rows } = done;
    if (rows > 0) await inTransaction(database, (trx) => audit(trx, by, table, { rows }));
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
    { ...bindingsOf(retention.keep), batch: BATCH_SIZE },
  );
  return row!.count;
}

/**
 * Ordered, so that an index is read and not the table: of a table that is believed to be mostly
 * old that would look cheaper, and then pass everything that is young or deleted already.
 */
function fromOld(table: string, { since, partOf, only }: Deleted): string {
  const isOver = `${since} < now() - CAST(:period AS interval)`;
  const age = partOf
    ? `t.${partOf.by} = ANY (ARRAY(SELECT id FROM ${partOf.table} WHERE ${isOver}))`
    : `t.${isOver}`;
  const condition = only ? ` AND (${only})` : '';
  return `FROM ${table} t WHERE ${age}${condition} ORDER BY t.${partOf?.by ?? since}`;
}

function bindingsOf({ count, unit }: Period): { period: string } {
  return { period: `${count} ${unit}` };
}

async function detachOld(
  database: Database,
  done: Removed,
  period: Period,
  by: RetentionActor,
  signal: AbortSignal,
): Promise<void> {
  const { table } = done;
  for (const month of await oldMonths(database, table, period)) {
    if (signal.aborted) return;
    const outcome = await detachMonth(database, table, month, (trx) =>
      audit(trx, by, table, { detached: month }),
    );
    if (outcome === 'detached') done.months.push(month);
    if (outcome === 'busy') done.busy.push(month);
  }
}

async function audit(
  trx: Transaction,
  by: RetentionActor,
  table: string,
  details: Record<string, unknown>,
): Promise<void> {
  await recordAudit(trx, {
    ...by,
    action: 'retention.run',
    merchant_id: null,
    subject: `table ${table}`,
    details,
  });
}
