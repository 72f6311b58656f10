/** Columns with another value than before, as the audit log keeps them. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

/** What `wanted` would change about a row. What it leaves undefined stays as it is. */
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

/** The new values by column, as a statement's bindings. */
export function newValues(changed: Differences): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changed).map(([name, { to }]) => [name, to]));
}

/** A list that begins after a key, in the order of that key. */
export interface Page<Key> {
  after: Key | undefined;
  limit: number;
}
