/** Whole UTC days, YYYY-MM-DD, both included. */
export interface Days {
  dateFrom?: string | undefined;
  dateTo?: string | undefined;
}

/** The days as conditions over the bindings `date_from` and `date_to`. */
export function dayConditions(column: string, { dateFrom, dateTo }: Days): string[] {
  const conditions: string[] = [];
  const startOf = (name: string) => `CAST(CAST(:${name} AS date) AS timestamp) AT TIME ZONE 'UTC'`;
  if (dateFrom) conditions.push(`${column} >= ${startOf('date_from')}`);
  if (dateTo) conditions.push(`${column} < ${startOf('date_to')} + interval '1 day'`);
  return conditions;
}
