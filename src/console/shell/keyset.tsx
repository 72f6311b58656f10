/** The rows of a page of a list. */
export const PAGE_ROWS = 50;

/** Rows of a list, and where the next page begins. */
export interface ListPage<Row, Key> {
  rows: Row[];
  /** The key of the last row, if there are more. */
  next: Key | null;
}

/** Splits off the one row more that was read, which tells whether there is another page. */
export function pageOf<Row, Key>(found: Row[], keyOf: (row: Row) => Key): ListPage<Row, Key> {
  const rows = found.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  return { rows, next: found.length > PAGE_ROWS && last ? keyOf(last) : null };
}

interface NextPageProps {
  path: string;
  /** The filter of the list, as it stands in the address. */
  query: Readonly<Record<string, string>>;
  /** The field of the address that says where a page begins. */
  name?: string;
  next: string | number | null;
  /** What is older, or newer, than this page. */
  words: string;
}

/** The link to the next page of a list. */
export function NextPage({ path, query, name = 'after', next, words }: NextPageProps) {
  if (next === null) return null;
  const fields = new URLSearchParams({ ...query, [name]: String(next) });
  return (
    <p class="buttons">
      <a class="button quiet" href={`${path}?${fields}`}>
        {words}
      </a>
    </p>
  );
}
