import { type Database, firstRow, rows } from '../connections/database.ts';

/** A page of an operator's list: the rows that come after a key, in the order of that key. */
export interface KeysetPage<Key> {
  after: Key | undefined;
  limit: number;
}

/** Where a row stands in a list: newest first, by creation and id. */
export interface Position {
  /** Microseconds since 1970, which is how exactly Postgres keeps time. */
  createdUs: number;
  id: string;
}

/**
 * What following `next` carries along: the newest row of the first page, which bounds the
 * whole walk; how many rows there were then, since counting a large list takes longer than
 * reading a page of it; and after which row page `page` begins.
 */
export interface AsOf {
  newest: Position;
  count: number;
  page: number;
  after: Position;
}

export interface PageRequest {
  page: number;
  pageSize: number;
  asOf: AsOf | null;
}

/** A list's rows: what to select, in whose and which rows. */
export interface ListSource {
  /** Of the rows of a page, which go by the name `listed`. */
  columns: string;
  table: string;
  /** The columns that order the list. */
  createdAt: string;
  id: string;
  /** Always binds the merchant. */
  where: string[];
  bindings: Record<string, unknown>;
}

export interface Page<Row> {
  /** All rows that match; on a walk by `next`, as many as did when it began. */
  count: number;
  rows: Row[];
  /** What the next page's address carries; null on the last page. */
  next: AsOf | null;
}

type Positioned<Row> = Row & { position_us: string; position_id: string };

/**
 * Reads one page. With `asOf` rows that were added since the first page do not count, and
 * the page begins after the last row of the one before, so nothing repeats or is skipped.
 * A bare page is a plain offset; past the end it is empty.
 */
export async function readPage<Row>(
  database: Database,
  source: ListSource,
  { page, pageSize, asOf }: PageRequest,
): Promise<Page<Row>> {
  const bound = asOf ? comparison(source, '<=', 'newest', asOf.newest) : null;
  const count = asOf?.count ?? (await countRows(database, source));
  const isNext = asOf !== null && asOf.page === page;
  const offset = isNext ? 0 : (page - 1) * pageSize;
  if (!isNext && offset >= count) return { count, rows: [], next: null };
  // Read before the page, so that what is added in between is in neither.
  const newest = asOf?.newest ?? (page > 1 ? await newestOf(database, source) : null);
  // Whatever was counted may have left the filter meanwhile.
  if (newest === undefined) return { count, rows: [], next: null };
  const start = isNext ? comparison(source, '<', 'after', asOf.after) : null;
  const found = await select<Row>(database, source, [bound, start], pageSize + 1, offset);
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

/** The newest row of all, for a walk that begins in the middle. */
async function newestOf(database: Database, source: ListSource): Promise<Position | undefined> {
  const [newest] = await select(database, source, [], 1, 0);
  return newest && positionOf(newest);
}

interface Comparison {
  sql: string;
  bindings: Record<string, unknown>;
}

function comparison(
  { createdAt, id }: ListSource,
  operator: '<=' | '<',
  name: string,
  position: Position,
): Comparison {
  return {
    sql: `(${createdAt}, ${id}) ${operator} (timestamptz 'epoch'
      + CAST(:${name}_us AS double precision) * interval '1 microsecond', CAST(:${name}_id AS uuid))`,
    bindings: { [`${name}_us`]: position.createdUs, [`${name}_id`]: position.id },
  };
}

async function countRows(database: Database, source: ListSource): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM ${source.table} WHERE ${conditions(source, [])}`,
    source.bindings,
  );
  return row!.count;
}

async function select<Row>(
  database: Database,
  source: ListSource,
  comparisons: (Comparison | null)[],
  limit: number,
  offset: number,
): Promise<Positioned<Row>[]> {
  const { columns, table, createdAt, id } = source;
  return rows<Positioned<Row>>(
    database,
    // The page is found first: what its columns cost is not paid for the rows before it.
    `SELECT ${columns}, ${id} AS position_id,
       (extract(epoch FROM ${createdAt}) * 1000000)::bigint::text AS position_us
     FROM (
       SELECT * FROM ${table} WHERE ${conditions(source, comparisons)}
       ORDER BY ${createdAt} DESC, ${id} DESC LIMIT :limit OFFSET :offset
     ) AS listed
     ORDER BY ${createdAt} DESC, ${id} DESC`,
    {
      ...source.bindings,
      ...Object.assign({}, ...comparisons.map((item) => item?.bindings)),
      limit,
      offset,
    },
  );
}

function conditions(source: ListSource, comparisons: (Comparison | null)[]): string {
  const extra = comparisons.filter((item) => item !== null).map(({ sql }) => sql);
  return [...source.where, ...extra].join(' AND ');
}

function positionOf<Row>(row: Positioned<Row> | undefined): Position {
  if (!row) throw new Error('A page that is followed by another has rows');
  return { createdUs: Number(row.position_us), id: row.position_id };
}
