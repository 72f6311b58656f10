import { type Readable, Transform } from 'node:stream';
import { parse } from 'csv-parse';
import type { OwnLine, StatementLine } from './statement.ts';
import { BUILT_IN, OWN, plainHeader, tellingColumns } from './statement-profile.ts';
import {
  type CsvRecord,
  type FoundFormat,
  type Row,
  readRow,
  StatementFileError,
  type StatementFormat,
} from './statement-row.ts';

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
  const lines = source.pipe(refuseLongLines());
  const parser = lines.pipe(
    parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }),
  );
  // A pipe does not pass errors on, such as a missing file.
  for (const each of [source, lines]) each.on('error', (error) => parser.destroy(error));
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
  const principal = principalsOf(rows);
  return { lines: movementsOf(rows, principal), own: [...own, ...feesOf(rows, principal)] };
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

/** For each receipt that is not of charges alone, which of its rows are its money. */
type Principals = ReadonlyMap<string | null, (row: Row) => boolean>;

/**
 * Returns the movements among rows. The rows of a receipt are one movement with its charges. A repeated row counts once.
 * @throws StatementFileError where the signs of a kind differ: money that came back is no movement
 * of the kind
 */
function movementsOf(rows: Row[], principal: Principals): StatementLine[] {
  const signs = new Map<StatementLine['kind'] | 'charge', boolean>();
  const seen = new Set<string>();
  const isCharge = (row: Row) =>
    row.isCharge ||
    (row.mayBeCharge && row.line.transId !== null && !principal.get(row.line.transId)!(row));
  const charges = chargesOf(rows.filter(isCharge));
  const requireSign = (kind: StatementLine['kind'] | 'charge', { lineNo, isNegative }: Row) => {
    if ((signs.get(kind) ?? isNegative) !== isNegative) {
      throw wrongLine(lineNo, `has another sign than the ${kind}s before it`);
    }
    signs.set(kind, isNegative);
  };
  return rows.flatMap((row) => {
    const { line, lineNo, isNegative, isIn } = row;
    if (isCharge(row)) {
      // The side for money in says by itself that a charge came back.
      if (!isIn && !line.isUndecided) requireSign('charge', row);
      return [];
    }
    // Money that went out again is not money that came in.
    if (line.kind === 'collection' && isNegative && !line.isUndecided) {
      throw wrongLine(lineNo, 'is a collection of a negative amount');
    }
    if (!line.isUndecided) requireSign(line.kind, row);
    const facts = JSON.stringify(line);
    if (seen.has(facts)) return [];
    seen.add(facts);
    const chargeCents = charges.get(line.transId);
    return [chargeCents === undefined ? line : { ...line, chargeCents }];
  });
}

/**
 * Returns the charges whose receipt has no other row, such as a monthly fee. They are the operator's own money. The
 * charge of a payment of the day before is one, too.
 */
function feesOf(rows: Row[], principal: Principals): OwnLine[] {
  const fees = rows.filter(
    ({ isCharge, line }) => isCharge && !line.isUndecided && !principal.has(line.transId),
  );
  return fees.flatMap(({ line: { transId, amountCents, completedAt: toldAt }, isIn }) =>
    transId === null
      ? []
      : [{ reference: transId, amountCents: isIn ? amountCents : -amountCents, toldAt }],
  );
}

/**
 * Returns, for each receipt, which of its rows are its money. If all of them have words of a charge, as where a
 * customer has paid school fees, money that came in is, or else the largest that went out.
 */
function principalsOf(rows: Row[]): Principals {
  const ofReceipts = new Map<string | null, Row[]>();
  for (const row of rows) {
    const { transId } = row.line;
    const others = ofReceipts.get(transId);
    if (others) others.push(row);
    else ofReceipts.set(transId, [row]);
  }
  const mixed = [...ofReceipts].filter(([, all]) => all.some(({ isCharge }) => !isCharge));
  return new Map(
    mixed.map(([transId, all]) => {
      const isLargest = largestAmong(all.filter(({ isCharge }) => !isCharge));
      return [transId, (row) => isLargest(row) || !isChargeAmong(all, row)];
    }),
  );
}

/** A bank takes no more for a transfer, with its duty. A larger row with words of a charge is money of its own. */
const MAX_CHARGE_CENTS = 60_000;

/**
 * Tells whether words make a row the charge of another row of its receipt. Customers write such words, too. Money that
 * came in gives a charge back only if as large a charge has gone out.
 */
function isChargeAmong(all: Row[], row: Row): boolean {
  const { amountCents } = row.line;
  if (!row.mayBeCharge || amountCents > MAX_CHARGE_CENTS) return false;
  const hasGoneOut = (each: Row) => each.mayBeCharge && !cameIn(each);
  return (
    !cameIn(row) || all.some((each) => hasGoneOut(each) && each.line.amountCents >= amountCents)
  );
}

/** Returns which rows are the money if all rows of a receipt have words of a charge. */
function largestAmong(all: Row[]): (row: Row) => boolean {
  if (all.some(({ mayBeCharge }) => !mayBeCharge)) return () => false;
  const out = all.filter((row) => !cameIn(row));
  // A charge that came back has a payout and its charge beside it.
  if (out.length < all.length && out.length < 2) return cameIn;
  const settled = out.filter(({ line }) => !line.isUndecided);
  const amounts = (settled.length > 0 ? settled : out).map(({ line }) => line.amountCents);
  const largest = amounts.reduce((one, other) => Math.max(one, other));
  return (row) => !cameIn(row) && row.line.amountCents >= largest;
}

function cameIn({ isIn, line }: Row): boolean {
  return isIn || line.kind === 'collection';
}

function wrongLine(lineNo: number, problem: string): StatementFileError {
  return new StatementFileError(`line ${lineNo}: ${problem}`);
}

/** Sums the charges of each receipt, less those that were taken back. A repeated row counts once. */
function chargesOf(rows: Row[]): ReadonlyMap<string | null, number> {
  const once = new Map(rows.map((row) => [JSON.stringify([row.line, row.isIn]), row]));
  const sums = new Map<string | null, number>();
  for (const { line, isIn } of once.values()) {
    const { transId, amountCents, isUndecided } = line;
    if (transId === null || isUndecided) continue;
    const cents = (sums.get(transId) ?? 0) + (isIn ? -amountCents : amountCents);
    sums.set(transId, cents);
  }
  return new Map([...sums].map(([transId, cents]) => [transId, Math.max(0, cents)]));
}
