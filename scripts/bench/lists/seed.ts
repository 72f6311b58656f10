import pg from 'pg';
import { BenchError } from '../bench-error.ts';
import type { BenchMerchant } from '../merchants.ts';
import { CHECK_SEED, FIND_FACTS, SEED_STATEMENTS } from './seed-sql.ts';

/** The other merchant has one collection for ten of the large one. */
const OTHER_PART = 10;
/** So many collections come from one payer on average. */
const COLLECTIONS_PER_PHONE_COUNT = 5;
const STATEMENT_TIMEOUT_MS = 15 * 60_000;
const SECOND_MS = 1_000;

/**
 * For this session alone, which makes the database's own data: collections are born in the
 * status that they ended in, which the triggers refuse; they and foreign keys stay silent.
 */
const SESSION = `
  SET session_replication_role = replica;
  SET work_mem = '512MB';
  SET synchronous_commit = off;
  SELECT setseed(0.42);`;

/** What there is to ask for in the lists of the large merchant. */
export interface SeedFacts {
  /** A payer with many completed collections, and one with few. */
  frequent: string;
  rare: string;
  /** Of a completed collection from the middle. */
  ref_no: string;
  collections: number;
  transactions: number;
}

/**
 * Gives the first merchant `rowsCount` collections of two years with the wallet entries that
 * belong to them, and the second a tenth, then vacuums.
 * @throws BenchError when what was made is not what the service would have made
 */
export async function seedLists(
  databaseUrl: string,
  merchants: readonly BenchMerchant[],
  rowsCount: number,
  say: (line: string) => void,
): Promise<SeedFacts> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  // The server that is stopped in the middle; whoever waits for a statement hears of it too.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(SESSION);
    const numbers = numbersOf(merchants, rowsCount);
    for (const [what, sql] of SEED_STATEMENTS) {
      await timed(client, what, filledIn(sql, numbers), say);
    }
    await timed(client, 'VACUUM ANALYZE', 'VACUUM (ANALYZE)', say);
    await assertSound(client);
    const { rows } = await client.query<SeedFacts>(FIND_FACTS, [
      merchants[0]!.merchant_id,
      Math.floor(rowsCount / 3),
    ]);
    return rows[0]!;
  } finally {
    await client.end().catch(() => {});
  }
}

function numbersOf(merchants: readonly BenchMerchant[], rowsCount: number) {
  const [main, other] = merchants as [BenchMerchant, BenchMerchant];
  return {
    main_id: main.merchant_id,
    main_app: main.app_code,
    other_id: other.merchant_id,
    other_app: other.app_code,
    // Every eleventh is the other's.
    total: rowsCount + Math.floor(rowsCount / OTHER_PART),
    phones: Math.ceil(rowsCount / COLLECTIONS_PER_PHONE_COUNT),
  };
}

function filledIn(sql: string, numbers: Record<string, number>): string {
  return sql.replace(/(?<!:):(\w+)/g, (text, name) => String(numbers[name] ?? text));
}

async function timed(
  client: pg.Client,
  what: string,
  sql: string,
  say: (line: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  const { rowCount } = await client.query(sql);
  const seconds = ((performance.now() - startedAt) / SECOND_MS).toFixed(1);
  say(`seed: ${what}${rowCount === null ? '' : `, ${rowCount} rows`} in ${seconds} s`);
}

async function assertSound(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ journals: number; links: number }>(CHECK_SEED);
  const { journals, links } = rows[0]!;
  if (journals === 0 && links === 0) return;
  throw new BenchError(
    `The seed is wrong: ${journals} journals do not sum to zero, ${links} links of chains break`,
  );
}
