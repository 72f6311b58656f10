import { type Database, firstRow, inTransaction, type Transaction } from '../../database.ts';
import { recordAudit } from '../audit.ts';
import { detachOldMonths, oldMonths } from './old-months.ts';
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
}

/** On whose behalf, for the audit log. */
export interface RetentionActor {
  actor: string;
  reason: string;
}

type Deleted = Extract<Retention, { since: string }>;

/**
 * Deletes what has been kept for long enough, and detaches the months that are over. May be
 * stopped anywhere, run again, and run twice at once.
 */
export async function runRetention(
  database: Database,
  by: RetentionActor,
  signal: AbortSignal = new AbortController().signal,
): Promise<Removed[]> {
  const removed: Removed[] = [];
  for (const [table, retention] of Object.entries(RETENTION)) {
    if ('since' in retention) {
      const count = await deleteOld(database, table, retention, by, signal);
      removed.push({ table, rows: count, months: [] });
    } else if ('detach' in retention) {
      const months = await detachOldMonths(database, table, retention.keep, (trx, month) =>
        audit(trx, by, table, { detached: month }),
      );
      removed.push({ table, rows: 0, months });
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
        `SELECT count(*) FROM (SELECT FROM ${table} t WHERE ${isOld(retention)} LIMIT :most) old`,
        { ...bindingsOf(retention.keep), most: MAX_COUNTED },
      );
      found.push({ table, rows: row!.count, months: [] });
    } else if ('detach' in retention) {
      found.push({ table, rows: 0, months: await oldMonths(database, table, retention.keep) });
    }
  }
  return found;
}

/** The line of the audit log comes with the last batch, or with the error that ends it early. */
async function deleteOld(
  database: Database,
  table: string,
  retention: Deleted,
  by: RetentionActor,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  try {
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch += 1) {
      const count = await deleteBatch(database, table, retention);
      total += count;
      if (count < BATCH_SIZE) break;
    }
  } finally {
    if (total > 0) await inTransaction(database, (trx) => audit(trx, by, table, { rows: total }));
  }
  return total;
}

async function deleteBatch(database: Database, table: string, retention: Deleted): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `WITH old AS MATERIALIZED (
       SELECT t.ctid FROM ${table} t WHERE ${isOld(retention)}
       LIMIT :batch FOR UPDATE OF t SKIP LOCKED
     ), deleted AS (
       DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM old) RETURNING 1
     )
     SELECT count(*) FROM deleted`,
    { ...bindingsOf(retention.keep), batch: BATCH_SIZE },
  );
  return row!.count;
}

function isOld({ since, only }: Deleted): string {
  const column = since.startsWith('(') ? since : `t.${since}`;
  const condition = only ? ` AND (${only})` : '';
  return `${column} < now() - CAST(:period AS interval)${condition}`;
}

function bindingsOf({ count, unit }: Period): { period: string } {
  return { period: `${count} ${unit}` };
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
    merchantId: null,
    subject: `table ${table}`,
    details,
  });
}
