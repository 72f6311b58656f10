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

/** What a page shows in place of an empty table. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="card soft">{children}</p>;
}
