import { firstRow, type Transaction } from '../connections/database.ts';

/** The columns that a change has changed, as the audit log keeps them. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

/** Compares a row with the wanted values. A value of undefined leaves its column as it is. */
export function differences<Row extends object>(row: Row, wanted: Partial<Row>): Differences {
  const changed: Differences = {};
  for (const [name, to] of Object.entries(wanted)) {
    const from = row[name as keyof Row];
    if (to !== undefined && JSON.stringify(from) !== JSON.stringify(to)) {
      changed[name] = { from, to };
    }
  }
  return changed;
}

/** Returns the new values by column, as `updateRow` takes them. */
export function newValues(changed: Differences): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changed).map(([name, { to }]) => [name, to]));
}

interface Table {
  name: string;
  key: readonly string[];
  /** The columns that a row is read with. */
  columns: string;
}

/** Sets columns of a row. Without any values it changes nothing. @returns the row as it is now. */
export async function updateRow<Row extends object>(
  trx: Transaction,
  { name, key, columns }: Table,
  row: Row,
  values: Record<string, unknown>,
): Promise<Row> {
  const changed = Object.keys(values);
  if (changed.length === 0) return row;
  const isColumn = (column: string) => `${column} = :${column}`;
  const updated = await firstRow<Row>(
    trx,
    `UPDATE ${name} SET ${changed.map(isColumn).join(', ')}
     WHERE ${key.map(isColumn).join(' AND ')} RETURNING ${columns}`,
    { ...row, ...values },
  );
  return updated!;
}
