import { type Options, stringify } from 'csv-stringify/sync';

/** A spreadsheet takes a text that begins like this for a formula, also after blanks and in full width. */
const FORMULA = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;

const FORM: Options = {
  record_delimiter: 'windows',
  // A reader may take a lone end of a line for the end of the row.
  quoted_match: /[\r\n]/,
  cast: {
    // The library's own guard looks at the first character only.
    string: guarded,
    object: (value) => guarded(JSON.stringify(value)),
  },
};

/**
 * Formats rows as CSV by RFC 4180. An apostrophe before a text that looks like a formula keeps
 * spreadsheets from running it. Objects are JSON.
 * @param withNames puts the names of the columns first
 */
export function csvText(
  names: readonly string[],
  rows: readonly object[],
  { withNames = true } = {},
): string {
  return stringify([...rows], { ...FORM, columns: [...names], header: withNames });
}

function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
