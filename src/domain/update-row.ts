import { firstRow, type Transaction } from '../connections/database.ts';

/** The columns that a change has changed, as the audit log keeps them. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

interface Table {
  name: string;
  key: readonly string[];
  /** The columns that a row is read with. */
  columns: string;
}

/**
 * Sets the columns of a row that differ from the wanted values. A value of undefined leaves its
 * column as it is.
 * @param hidden are columns to set that the row is not read with, such as a password's hash.
 * @returns the row as it is now, and what has changed.
 */
export async function updateRow<Row extends object>(
  trx: Transaction,
  { name, key, columns }: Table,
  row: Row,
  wanted: Partial<Row>,
  hidden: Record<string, unknown> = {},
): Promise<{ row: Row; changed: Differences }> {
  const changed = differences(row, wanted);
  const names = [...Object.keys(changed), ...Object.keys(hidden)];
  if (names.length === 0) return { row, changed };
  const isColumn = (column: string) => `${column} = :${column}`;
  const updated = await firstRow<Row>(
    trx,
    `UPDATE ${name} SET ${names.map(isColumn).join(', ')}
     WHERE ${key.map(isColumn).join(' AND ')} RETURNING ${columns}`,
    { ...row, ...wanted, ...hidden },
  );
  return { row: updated!, changed };
}

function differences<Row extends object>(row: Row, wanted: Partial<Row>): Differences {
  const changed: Differences = {};
  for (const [name, to] of Object.entries(wanted)) {
    const from = row[name as keyof Row];
    if (to !== undefined && JSON.stringify(from) !== JSON.stringify(to)) {
      changed[name] = { from, to };
    }
  }
  return changed;
}
