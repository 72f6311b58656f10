import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../../connections/database.ts';

/** Reading so many rows takes far less than a statement's time limit. */
const CHUNK_ROWS = 2_000;

/**
 * Runs `work` on a snapshot of the database. It does not see payments that move meanwhile,
 * cannot change anything and locks no row.
 */
export async function inSnapshot<Result>(
  database: Database,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (trx) => {
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    return work(trx);
  });
}

/**
 * Calls `take` with each row of a query. Each chunk is read by a statement of its own, so a
 * large number of rows does not run into the time limit.
 * @returns the number of rows.
 */
export async function eachRow<Row>(
  trx: Transaction,
  signal: AbortSignal,
  query: { sql: string; bindings: object },
  take: (row: Row) => void,
): Promise<number> {
  await rows(trx, `DECLARE verified NO SCROLL CURSOR FOR ${query.sql}`, query.bindings);
  let count = 0;
  for (;;) {
    signal.throwIfAborted();
    const chunk = await rows<Row>(trx, `FETCH ${CHUNK_ROWS} FROM verified`);
    for (const row of chunk) take(row);
    count += chunk.length;
    if (chunk.length < CHUNK_ROWS) break;
  }
  await rows(trx, 'CLOSE verified');
  return count;
}
