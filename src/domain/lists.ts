import { type Database, firstRow, rows, type Transaction } from '../connections/database.ts';

/** A page of an operator's list: the rows that come after a key, in the order of that key. */
export interface KeysetPage<Key> {
  after: Key | undefined;
  limit: number;
}

/** The place of a row in a list, which is ordered by creation and id, newest first. */
export interface Position {
  /** Microseconds since 1970, the precision of Postgres. */
  createdUs: number;
  id: string;
}

/** The state that the address `next` carries from page to page. */
export interface AsOf {
  /** The newest row of the first page. Newer rows are in none of the pages. */
  newest: Position;
  /** The number of rows at the first page. To count a large list again would be slow. */
  count: number;
  page: number;
  /** The last row of the page before `page`. */
  after: Position;
}

export interface PageRequest {
  page: number;
  pageSize: number;
  asOf: AsOf | null;
}

/** The parts of the SQL that a list is read with. */
export interface ListSource {
  /** Selected from the rows of a page, which are named `listed`, and from what is joined to them. */
  columns: string;
  table: string;
  /** SQL that joins something to each row of a page. */
  joins?: string;
  /** The columns by which the list is ordered. */
  createdAt: string;
  id: string;
  /** Conditions, of which one always binds the merchant. */
  where: string[];
  bindings: Record<string, unknown>;
  /** Counts no further. Without it all rows that match are counted. */
  countLimit?: number;
}

/** A list that may be very long counts up to here. */
export const MAX_COUNT = 10_000;

export interface Page<Row> {
  /**
   * The number of rows that match, up to the limit of the list. Pages reached by `next` repeat that
   * of the first page.
   */
  count: number;
  rows: Row[];
  /** Null on the last page. */
  next: AsOf | null;
}

type Positioned<Row> = Row & { position_us: string; position_id: string };

/**
 * Reads one page. With `asOf` it leaves out rows that were added since the first page, and
 * begins after the last row of the page before. So no row is repeated or skipped. Without
 * `asOf` the page is an offset. A page past the end is empty, and so is an offset past the limit of
 * the count.
 */
export async function readPage<Row>(
  database: Database,
  source: ListSource,
  { page, pageSize, asOf }: PageRequest,
): Promise<Page<Row>> {
  const count = asOf?.count ?? (await countRows(database, source));
  const isNext = asOf !== null && asOf.page === page;
  const offset = isNext ? 0 : (page - 1) * pageSize;
  const isWhole = count !== source.countLimit;
  // Behind the limit only who follows `next` gets on: an offset reads all that comes before.
  if (!isNext && (isWhole || !asOf) && offset >= count) return { count, rows: [], next: null };
  // Read before the page, so that no row that is added in between is in any page.
  const newest = asOf?.newest ?? (page > 1 ? await newestOf(database, source) : null);
  // The counted rows may no longer match the filter.
  if (newest === undefined) return { count, rows: [], next: null };
  const known = asOf ? narrowed(source, '<=', 'newest', asOf.newest) : source;
  const rest = isNext ? narrowed(known, '<', 'after', asOf.after) : known;
  const found = await select<Row>(database, rest, pageSize + 1, offset);
  const shown = found.slice(0, pageSize);
  if (found.length <= pageSize) return { count, rows: shown, next: null };
  return {
    count,
    rows: shown,
    next: {
      newest: newest ?? positionOf(shown[0]),
      count,
      page: page + 1,
      after: positionOf(shown.at(-1)),
    },
  };
}

/** Finds the newest row of the list, for a walk that begins on a later page. */
async function newestOf(database: Database, source: ListSource): Promise<Position | undefined> {
  const [newest] = await select(database, source, 1, 0);
  return newest && positionOf(newest);
}

/** Adds a condition to the list: only the rows before a position, or up to it. */
function narrowed(
  source: ListSource,
  operator: '<=' | '<',
  name: string,
  position: Position,
): ListSource {
  const { createdAt, id, where, bindings } = source;
  const condition = `(${createdAt}, ${id}) ${operator} (timestamptz 'epoch'
    + CAST(:${name}_us AS double precision) * interval '1 microsecond', CAST(:${name}_id AS uuid))`;
  const place = { [`${name}_us`]: position.createdUs, [`${name}_id`]: position.id };
  return { ...source, where: [...where, condition], bindings: { ...bindings, ...place } };
}

/** Counts rows up to a limit. @param from is SQL, from the word FROM on */
export async function countUpTo(
  database: Database | Transaction,
  from: string,
  bindings: object,
  most: number,
): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM (SELECT ${from} LIMIT :most) AS counted`,
    { ...bindings, most },
  );
  return row!.count;
}

async function countRows(
  database: Database,
  { table, where, bindings, countLimit }: ListSource,
): Promise<number> {
  const matching = `${table} WHERE ${where.join(' AND ')}`;
  const counted =
    countLimit === undefined ? matching : `(SELECT FROM ${matching} LIMIT :count_limit) AS counted`;
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM ${counted}`,
    { ...bindings, count_limit: countLimit },
  );
  return row!.count;
}

async function select<Row>(
  database: Database,
  { columns, table, joins = '', createdAt, id, where, bindings }: ListSource,
  limit: number,
  offset: number,
): Promise<Positioned<Row>[]> {
  return rows<Positioned<Row>>(
    database,
    // Finds the page first, so that costly columns are not computed for the rows before it.
    `SELECT ${columns}, listed.${id} AS position_id,
       (extract(epoch FROM listed.${createdAt}) * 1000000)::bigint::text AS position_us
     FROM (
       SELECT * FROM ${table} WHERE ${where.join(' AND ')}
       ORDER BY ${createdAt} DESC, ${id} DESC LIMIT :limit OFFSET :offset
     ) AS listed ${joins}
     ORDER BY listed.${createdAt} DESC, listed.${id} DESC`,
    { ...bindings, limit, offset },
  );
}

function positionOf<Row>(row: Positioned<Row> | undefined): Position {
  if (!row) throw new Error('A page that is followed by another has rows');
  return { createdUs: Number(row.position_us), id: row.position_id };
}
