/** Whole UTC days, YYYY-MM-DD, both included. */
export interface Days {
  date_from?: string | undefined;
  date_to?: string | undefined;
}

/** Returns the conditions of a query for these days, with `date_from` and `date_to` as bindings. */
export function dayConditions(column: string, { date_from, date_to }: Days): string[] {
  const conditions: string[] = [];
  const startOf = (name: string) => `CAST(CAST(:${name} AS date) AS timestamp) AT TIME ZONE 'UTC'`;
  if (date_from) conditions.push(`${column} >= ${startOf('date_from')}`);
  if (date_to) conditions.push(`${column} < ${startOf('date_to')} + interval '1 day'`);
  return conditions;
}
