/** A spreadsheet takes a text that begins like this for a formula, also after blanks and in full width. */
const FORMULA = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;
/** A text with one of these stands in quotes. */
const SPECIAL = /[",\r\n]/;

/**
 * Formats rows as CSV by RFC 4180, with the names of the columns first. An apostrophe before a
 * text that looks like a formula keeps spreadsheets from running it. Objects are JSON.
 * @returns a line for each row, without the line feed that ends it.
 */
export function csvLines(names: readonly string[], rows: Record<string, unknown>[]): string[] {
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r`);
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
