import { createHash } from 'node:crypto';
import { type Database, inSnapshot } from '../../connections/database.ts';
import { eachRow } from '../ledger/verification/checks.ts';

/**
 * The sealed tables, with the columns of time and id. PostgreSQL's clock gives each time. A row
 * belongs to the day of its time.
 */
const SEALED = {
  journals: ['created_at', 'id'],
  entries: ['created_at', 'journal_id'],
  audit_log: ['happened_at', 'id'],
  security_events: ['at', 'id'],
} as const;
export type SealedTable = keyof typeof SEALED;
export const SEALED_TABLES = Object.keys(SEALED) as SealedTable[];

/** The rows of one minute. */
export interface Block {
  /** The beginning of the minute, in ISO 8601. */
  minute: string;
  count: number;
  hash: string;
  first_id: string;
  last_id: string;
}

/** The proof of what a table had of one day of Nairobi. */
export interface Seal {
  table_name: SealedTable;
  /** YYYY-MM-DD. */
  day: string;
  row_count: number;
  hash: string;
  /** The hash of the day before; FIRST for the first day. */
  hash_before: string;
  sealed_at: Date;
}

/** The parts of a seal that are known before its rows are read. */
export type Due = Pick<Seal, 'table_name' | 'day' | 'hash_before'>;

/** Stands for the hash before the first day. The first seal also has the rows from before its day. */
export const FIRST = '0'.repeat(64);

/** Returns the hash, SHA-256 in hex, and the number of rows of a seal with these blocks. */
export function sealOf({ table_name, day, hash_before }: Due, blocks: Block[]) {
  const parts = blocks.map((b) => [b.minute, b.count, b.hash, b.first_id, b.last_id]);
  const text = JSON.stringify([table_name, day, hash_before, parts]);
  return {
    hash: createHash('sha256').update(text).digest('hex'),
    row_count: blocks.reduce((sum, { count }) => sum + count, 0),
  };
}

/**
 * One statement reads this number of blocks, each a minute of rows, and sorts a slice of the day at a
 * time. So it takes less than its time limit on a day with tens of millions of rows.
 */
const CHUNK_BLOCKS = 5;
const SLICE = "interval '5 minutes'";

/**
 * Reads the blocks of a day as its table has them now, in one snapshot. Only hashes of minutes leave
 * the database, so any number of rows takes little memory.
 */
export function readBlocks(
  database: Database,
  { table_name, day, hash_before }: Due,
  signal = new AbortController().signal,
): Promise<Block[]> {
  const bindings = { day, since_ever: hash_before === FIRST };
  const query = { sql: BLOCKS[table_name], bindings, chunkRows: CHUNK_BLOCKS };
  return inSnapshot(database, async (trx) => {
    const blocks: Block[] = [];
    await eachRow<Omit<Block, 'minute'> & { at: Date }>(trx, signal, query, ({ at, ...block }) => {
      blocks.push({ minute: at.toISOString(), ...block });
    });
    return blocks.sort((one, other) => (one.minute < other.minute ? -1 : 1));
  });
}

/**
 * SQL for each table: the blocks of a day, slice by slice. The text of a row is its JSON with all
 * columns, in UTC. A migration that adds a column must leave the text of older rows as it was. The
 * rows of a minute are in the order of their hashes: the text of each has its time and id.
 */
const BLOCKS = Object.fromEntries(
  Object.entries(SEALED).map(([table, [at, id]]) => [
    table,
    `SELECT block.* FROM generate_series(
       CAST(CAST(:day AS date) AS timestamp) AT TIME ZONE 'Africa/Nairobi',
       CAST(CAST(:day AS date) + 1 AS timestamp) AT TIME ZONE 'Africa/Nairobi' - ${SLICE}, ${SLICE}
     ) WITH ORDINALITY AS slice (start, number)
     CROSS JOIN LATERAL (
       SELECT at, count(*) AS count, min(id) AS first_id, max(id) AS last_id,
         encode(sha256(string_agg(hash, '' ORDER BY hash)), 'hex') AS hash
       FROM (
         SELECT date_bin('1 minute', t.${at}, TIMESTAMPTZ '2000-01-01') AS at,
           CAST(t.${id} AS text) AS id,
           sha256(convert_to(CAST(to_jsonb(t) AS text), 'UTF8')) AS hash
         FROM ${table} t WHERE t.${at} < slice.start + ${SLICE}
           AND t.${at} >= CASE WHEN :since_ever AND number = 1 THEN '-infinity' ELSE slice.start END
       ) hashed GROUP BY at
     ) block`,
  ]),
) as Record<SealedTable, string>;
