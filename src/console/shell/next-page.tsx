/** The rows on a page of a list. */
export const PAGE_SIZE = 50;

/** The rows of a page, and the key of its last row if there are more. */
export interface ListPage<Row, Key> {
  rows: Row[];
  next: Key | null;
}

/** Reads a page of a list. One more row tells whether there is another page. */
export async function listPage<Row, Key>(
  read: (limit: number) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): Promise<ListPage<Row, Key>> {
  const found = await read(PAGE_SIZE + 1);
  const rows = found.slice(0, PAGE_SIZE);
  return { rows, next: found.length > PAGE_SIZE ? keyOf(rows.at(-1)!) : null };
}

/** Leads to the rows that follow. `query` is what narrows the list. */
export function NextPage({
  path,
  query,
  next,
  name = 'after',
}: {
  path: string;
  query: Readonly<Record<string, string>>;
  next: unknown;
  name?: string;
}) {
  if (next === null) return null;
  const search = new URLSearchParams({ ...query, [name]: String(next) });
  return (
    <p>
      <a class="button quiet" href={`${path}?${search}`}>
        Further ones
      </a>
    </p>
  );
}
