import { type Readable, Transform } from 'node:stream';
import { parse } from 'csv-parse';
import { movementsOf, wrongLine } from './rows-of-receipts.ts';
import type { OwnLine, StatementLine } from './statement.ts';
import {
  type CsvRecord,
  type FoundFormat,
  StatementFileError,
  type StatementFormat,
} from './statement-cells.ts';
import { BUILT_IN, OWN, plainHeader, tellingColumns } from './statement-profile.ts';
import { type Row, readRow } from './statement-row.ts';

/** The contents of a file: movements of payments, and the operator's own money. */
export interface ReadStatement {
  lines: StatementLine[];
  own: OwnLine[];
}

/** A larger file is not the statement of one period. */
export const MAX_LINES = 2_000_000;
/** A wider row is no row of a statement. Each column is compared with each name. */
const MAX_COLUMNS = 256;
/** A header stands within the first rows: exports tell about the account before it. */
export const MAX_ROWS_TO_HEADER = 50;

/**
 * Reads a gateway's statement as CSV with a header line. It counts as a whole or not at all.
 * @param maxLines is the most lines that it may have
 * @throws StatementFileError for the first line that is wrong
 */
export async function readStatement(
  source: Readable,
  format: StatementFormat,
  maxLines: number,
): Promise<ReadStatement> {
  const short = source.pipe(refuseLongLines());
  const parser = short.pipe(
    parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }),
  );
  // A pipe does not pass errors on, such as a missing file.
  for (const each of [source, short]) each.on('error', (error) => parser.destroy(error));
  const head: CsvRecord[] = [];
  const rows: Row[] = [];
  const own: OwnLine[] = [];
  let file: FoundFormat | null = null;
  let count = 0;
  const take = (record: CsvRecord) => {
    if (record.cells.every((cell) => cell === '')) return;
    count += 1;
    if (count > maxLines) throw new StatementFileError(`has over ${maxLines} lines`);
    const row = readRow(record, file!);
    if (row && 'toldAt' in row) own.push(row);
    else if (row) rows.push(row);
  };
  const begin = () => {
    const { at, ...found } = headerOf(head, format);
    file = { ...format, ...found };
    head.slice(at + 1).forEach(take);
  };
  try {
    for await (const { record, info } of parser) {
      const next = { cells: record, lineNo: info.lines };
      if (record.length > MAX_COLUMNS) {
        throw wrongLine(info.lines, `has over ${MAX_COLUMNS} columns`);
      }
      if (file) take(next);
      else if (head.push(next) === MAX_ROWS_TO_HEADER) begin();
    }
    if (!file) begin();
  } catch (error) {
    if (error instanceof StatementFileError) throw error;
    throw new StatementFileError(`cannot be read: ${(error as Error).message}`);
  }
  const { lines, own: charges } = movementsOf(rows);
  return { lines, own: [...own, ...charges] };
}

/** No line of a statement is longer. To take a longer one apart could take all memory. */
const MAX_LINE_BYTES = 65_536;
/** The ends of lines: LF, and CR of old programs. */
const [LF, CR] = [10, 13];

/** Passes a file on as long as its lines are not too long. */
function refuseLongLines(): Transform {
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const byte of chunk) {
        length = byte === LF || byte === CR ? 0 : length + 1;
        if (length <= MAX_LINE_BYTES) continue;
        return done(new StatementFileError(`has a line of over ${MAX_LINE_BYTES} bytes`));
      }
      done(null, chunk);
    },
  });
}

/** Finds the first row that is the header of a profile. A file without one has our own columns. */
function headerOf(records: CsvRecord[], { columns, profiles = BUILT_IN }: StatementFormat) {
  // Names of columns are given for a file that no profile knows.
  const possible = Object.keys(columns).length > 0 && profiles.length > 1 ? [OWN] : profiles;
  for (const [at, { cells }] of records.entries()) {
    const header = cells.map(plainHeader);
    const isThere = (name: string) => header.includes(plainHeader(name));
    const profile = possible.find((each) => tellingColumns(each, columns).every(isThere));
    if (profile) return { at, header, profile };
  }
  const [only] = possible;
  if (possible.length > 1 || only === OWN) {
    return { at: 0, header: records[0]?.cells.map(plainHeader) ?? [], profile: OWN };
  }
  const needs = tellingColumns(only!, columns).join(', ');
  throw new StatementFileError(`has no header of the profile ${only!.name}, with ${needs}`);
}
