import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';

/** A comparison that was not renewed for so long has stopped: its process is gone. */
const LEASE_MS = 30_000;

/**
 * Begins the comparison of a statement, anew if it has stopped.
 * @returns false when it is under way, or has ended
 */
export function beginComparison(trx: Transaction, id: string): Promise<boolean> {
  return hasRow(
    trx,
    `UPDATE statement_imports SET started_at = clock_timestamp(),
       leased_until = clock_timestamp() + :lease_ms * interval '1 millisecond'
     WHERE id = CAST(:id AS uuid) AND result IS NULL
       AND (leased_until IS NULL OR leased_until < clock_timestamp())
     RETURNING id`,
    { id, lease_ms: LEASE_MS },
  );
}

/**
 * Says that a comparison goes on while it does. When it fails, or its process ends, the page of
 * the statement says that it has stopped. Two at once would book nothing twice.
 */
export async function whileLeased<Result>(
  database: Database,
  id: string,
  compare: () => Promise<Result>,
): Promise<Result> {
  let renewal = renew(database, id, LEASE_MS);
  const timer = setInterval(() => {
    renewal = renew(database, id, LEASE_MS);
  }, LEASE_MS / 3);
  try {
    return await compare();
  } finally {
    clearInterval(timer);
    await renewal;
    await renew(database, id, 0);
  }
}

/** If this fails, the lease runs out. */
async function renew(database: Database, id: string, lease_ms: number): Promise<void> {
  await rows(
    database,
    `UPDATE statement_imports
     SET leased_until = clock_timestamp() + :lease_ms * interval '1 millisecond'
     WHERE id = CAST(:id AS uuid) AND result IS NULL`,
    { id, lease_ms },
  ).catch(() => {});
}
