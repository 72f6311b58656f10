/**
 * SQL: the trigger that refuses every statement which names one of these columns to change it,
 * whoever runs it. It costs nothing in statements that name other columns.
 */
export function keptColumns(table: string, columns: readonly string[]): string {
  return `CREATE TRIGGER ${table}_columns_kept BEFORE UPDATE OF ${columns.join(', ')} ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();`;
}
