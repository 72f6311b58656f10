import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../../connections/database.ts';

/** Small enough that reading so many rows never comes near a statement's time limit. */
const CHUNK_ROWS = 2_000;

/**
 * Runs `work` over one moment of the database: payments move meanwhile, and it sees none
 * of it. It can change nothing and locks no row.
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
 * Hands the rows of a query to `take`, as many as it has, a chunk at a time. Each chunk is
 * a statement of its own, so no number of rows runs into the time limit.
 * @returns how many there were.
 */
export async function eachRow<Row>(
  trx: Transaction,
  signal: AbortSignal,
  query: { sql: string; bindings: Record<string, unknown> },
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
