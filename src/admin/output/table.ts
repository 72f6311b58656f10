import { formatAmount } from '../../domain/money.ts';
import { clockTime } from '../../domain/period.ts';
import { display } from './display.ts';
import { type Document, shortened } from './document.ts';
import { fitted } from './fitted.ts';

const GAP = '  ';
const EMPTY = '-';
/** A moment as documents have it. */
const ISO_MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A field under its own name, or a title with a field or a function that computes the cell. */
export type Column<Row> =
  | (keyof Row & string)
  | readonly [title: string, value: (keyof Row & string) | ((row: Row) => unknown)];

/**
 * Formats rows under column titles. Where they are too wide for the terminal, texts are shortened;
 * if that is not enough, each row is a block with a line for each column.
 */
export function table<Row extends object>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  indent = '',
): string[] {
  const pairs = columns.map((column) =>
    typeof column === 'string' ? ([wordsOf(column).toUpperCase(), column] as const) : column,
  );
  const cells = rows.map((row) => pairs.map(([, value]) => cellOf(row, value)));
  const titles = pairs.map(([title]) => title);
  const { columns: width } = display();
  const lines = [titles, ...cells];
  const shown = width === null ? lines : fitted(lines, width - indent.length, GAP.length);
  return (shown ? aligned(shown) : blocks(titles, cells)).map((line) =>
    `${indent}${line}`.trimEnd(),
  );
}

/** Formats each row as a title and a value on each line, without the empty ones. */
function blocks(titles: string[], rows: string[][]): string[] {
  return rows.flatMap((row, number) => {
    const pairs = titles.map((title, index) => [title, row[index]!]);
    const lines = aligned(pairs.filter(([, text]) => text !== EMPTY));
    return number === 0 ? lines : ['', ...lines];
  });
}

/** Stands for an empty value of a single row: for each, or by the name of the field. */
export type Empty = string | Readonly<Record<string, string>>;

/**
 * Formats a document for people: its values, then a section for each record and each list of
 * records. Leaves out empty values, or shows what `empty` has for them.
 */
export function render(document: object, empty?: Empty): string[] {
  const entries = Object.entries(document);
  const values = entries.filter(([, value]) => !isRecord(value) && !isRecordList(value));
  return [
    ...fields(values, empty),
    ...entries.flatMap(([name, value]) => {
      if (isRecord(value)) return section(name, fields(Object.entries(value), empty));
      return isRecordList(value) ? section(name, recordTable(value)) : [];
    }),
  ];
}

/** A name and a value on each line. */
function fields(entries: [name: string, value: unknown][], empty?: Empty): string[] {
  const rows = entries.map(([name, value]) => {
    const stand = typeof empty === 'string' ? empty : empty?.[name];
    return [`${GAP}${wordsOf(name)}`, isEmpty(value) ? stand : cell(value)];
  });
  return aligned(rows.filter((row): row is string[] => row[1] !== undefined));
}

function section(name: string, lines: string[]): string[] {
  return ['', `${capitalized(wordsOf(name))}:`, ...lines];
}

/** A table with a column for each field that is not empty in all records. */
function recordTable(records: Document[]): string[] {
  const names = Object.keys(records[0]!).filter((name) =>
    records.some((record) => !isEmpty(record[name])),
  );
  return table(records, names, GAP);
}

export function capitalized(words: string): string {
  return `${words[0]!.toUpperCase()}${words.slice(1)}`;
}

function wordsOf(name: string): string {
  return name.replace(/_cents$/, '').replaceAll('_', ' ');
}

function cellOf<Row>(row: Row, column: (keyof Row & string) | ((row: Row) => unknown)): string {
  if (typeof column === 'function') return cell(column(row));
  const value = row[column];
  const isAmount = column.endsWith('_cents') && typeof value === 'number';
  return isAmount ? formatAmount(value) : cell(value);
}

function cell(value: unknown): string {
  if (isEmpty(value)) return EMPTY;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return moment(value);
  if (typeof value === 'string' && ISO_MOMENT.test(value)) return moment(new Date(value));
  if (isRecordList(value)) return value.map((each) => Object.values(each).join(' ')).join(', ');
  if (Array.isArray(value)) return value.map(cell).join(', ');
  return shortened(isRecord(value) ? JSON.stringify(value) : String(value));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || String(value) === '';
}

function isRecord(value: unknown): value is Document {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Date);
}

function isRecordList(value: unknown): value is Document[] {
  return Array.isArray(value) && isRecord(value[0]);
}

/** A moment for people: in the time of Nairobi, or in UTC with --utc. */
export function moment(date: Date): string {
  return clockTime(date, display().zone);
}

/** Rows of cells as lines, each column as wide as its widest cell. */
export function aligned(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => row[index]!.length)),
  );
  return rows.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index]!))
      .join(GAP)
      .trimEnd(),
  );
}
