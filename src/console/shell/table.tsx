import type { ComponentChildren } from 'preact';

/** A column: its heading, and the cell of a row. */
export interface Column<Row> {
  heading: string;
  cell(row: Row): ComponentChildren;
  /** Amounts and counts stand below each other at the right. */
  isNumber?: boolean;
}

interface TableProps<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** Read aloud before the table. */
  caption: string;
}

/** A table, which on a phone becomes a list of cards. */
export function Table<Row>({ rows, columns, caption }: TableProps<Row>) {
  return (
    <table class="stack" aria-label={caption}>
      <thead>
        <tr>
          {columns.map(({ heading, isNumber }) => (
            <th scope="col" class={isNumber ? 'number' : undefined}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map(({ heading, cell, isNumber }) => (
              <td data-label={heading} class={isNumber ? 'number' : undefined}>
                <span>{cell(row)}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Stands in place of an empty table. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="card soft">{children}</p>;
}

/** The rows on a page of a list. */
export const PAGE_SIZE = 50;

/** The rows of a page, and the key of its last row if there are more. */
export interface ListPage<Row, Key = string> {
  rows: Row[];
  next: Key | null;
}

/** Reads a page of a list. One more row tells whether there is another page. */
export async function listPage<Row, Key>(
  read: (limit: number) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
  size = PAGE_SIZE,
): Promise<ListPage<Row, Key>> {
  const found = await read(size + 1);
  const rows = found.slice(0, size);
  return { rows, next: found.length > size ? keyOf(rows.at(-1)!) : null };
}

interface NextPageProps {
  path: string;
  /** The filters of the list, as they stand in the address. */
  query?: Readonly<Record<string, string>>;
  next: string | number | null;
  /** The field of the address that says where a page begins. */
  name?: string;
}

/** The link to the next rows. Renders nothing on the last page. */
export function NextPage({ path, query = {}, next, name = 'after' }: NextPageProps) {
  if (next === null) return null;
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams({ ...Object.fromEntries(given), [name]: String(next) });
  return (
    <p class="buttons">
      <a class="button quiet" href={`${path}?${search}`}>
        Next page
      </a>
    </p>
  );
}
