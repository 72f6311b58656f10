import type { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { isDay } from '../period.ts';
import { isMasked } from '../settlement/same-account.ts';
import { storableText } from '../text.ts';
import type { StatementLine } from './statement.ts';

export const LINE_KINDS = ['collection', 'payout', 'reversal'] as const;

export const COLUMN_NAMES = [
  'reference',
  'trans_id',
  'account',
  'amount',
  'completed_at',
  'kind',
  'status',
  'currency',
  'details',
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

/** The form of a statement: its columns, clock and signs. */
export interface StatementFormat {
  /** The file's names of columns that differ from ours. */
  columns: Readonly<Partial<Record<ColumnName, string>>>;
  /** The kind of all lines, when no column says it. */
  kind: StatementLine['kind'] | undefined;
  /** The offset of its times, such as +03:00. */
  utcOffset: string;
  /** Its accounts are phones, which networks do not write in E.164. */
  isMobileMoney: boolean;
}

/** A statement cannot be used. The message is one line without the path of the file. */
export class StatementFileError extends Error {}

/** A larger file is not the statement of one period. */
export const MAX_LINES = 2_000_000;
const MAX_TEXT_LENGTH = 500;

/**
 * Reads a gateway's statement as CSV with a header line. It counts as a whole or not at all.
 * @param maxLines is the most lines that it may have
 * @throws StatementFileError for the first line that is wrong
 */
export async function readStatement(
  source: Readable,
  format: StatementFormat,
  maxLines: number,
): Promise<StatementLine[]> {
  const rows: Row[] = [];
  const parser = source.pipe(
    parse({ bom: true, columns: true, info: true, skip_empty_lines: true, trim: true }),
  );
  // A pipe does not pass errors on, such as a missing file.
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser) {
      if (rows.length >= maxLines) throw new StatementFileError(`has over ${maxLines} lines`);
      const row = readRow(record, format, info.lines);
      if (row) rows.push(row);
    }
  } catch (error) {
    if (error instanceof StatementFileError) throw error;
    throw new StatementFileError(`cannot be read: ${(error as Error).message}`);
  }
  return movementsOf(rows);
}

/** A row of the file that may be a movement. */
interface Row {
  line: StatementLine;
  lineNo: number;
  isNegative: boolean;
  /** The row's words name a charge. A customer may write such words too, as in "School fees". */
  mayBeCharge: boolean;
  /** Its kind says that it is a charge. */
  isCharge: boolean;
}

const SUCCESS = /^(completed?|success(ful(ly)?)?|succeeded|settled|paid|ok)$/i;
const FAILURE =
  /^(fail(ed|ure)|declined|rejected|cancell?ed|expired|timed ?out|error|unsuccessful)$/i;
const OUR_CURRENCY = /^(KES|KSH|KSHS)$/i;
const CHARGE = /\b(charges?|fees?)\b/i;

/** Reads a row. Returns null for a failure and another currency. */
function readRow(
  record: Record<string, string>,
  file: StatementFormat,
  lineNo: number,
): Row | null {
  const wrong = (problem: string) => new StatementFileError(`line ${lineNo}: ${problem}`);
  const text = (name: ColumnName): string | null => {
    const column = file.columns[name];
    if (column !== undefined && record[column] === undefined) {
      throw wrong(`there is no column ${JSON.stringify(column)}`);
    }
    return storableText(record[column ?? name] ?? '', MAX_TEXT_LENGTH) || null;
  };
  // A file with another name for these must not be read as if it lacked them.
  const named = (name: 'status' | 'currency' | 'details', header: RegExp): string | null => {
    const found = file.columns[name] ?? Object.keys(record).find((column) => header.test(column));
    return found === undefined ? null : (text(name) ?? record[found] ?? '');
  };
  const status = named('status', /^(transaction )?status$/i);
  if (status !== null && FAILURE.test(status)) return null;
  const currency = named('currency', /^currency$/i);
  if (currency !== null && !OUR_CURRENCY.test(currency)) return null;
  const [reference, transId] = [text('reference'), text('trans_id')];
  if (reference === null && transId === null) throw wrong('has neither reference nor receipt');
  const word = (text('kind') ?? file.kind)?.toLowerCase() ?? '';
  const isCharge = /^(charge|fee)s?$/.test(word);
  const kind = isCharge ? 'payout' : LINE_KINDS.find((each) => each === word);
  if (!kind) throw wrong('is neither collection, payout nor reversal');
  const amount = text('amount') ?? '';
  const amountCents = centsOf(amount);
  if (amountCents === null && isCharge) return null;
  if (amountCents === null) throw wrong('has no amount');
  const completedAt = timeOf(text('completed_at') ?? '', file.utcOffset);
  if (completedAt === null) throw wrong('has no time');
  const account = accountOf(text('account'), file.isMobileMoney);
  const line: StatementLine = { kind, reference, account, amountCents, transId, completedAt };
  const isUndecided = status !== null && !SUCCESS.test(status);
  return {
    line: isUndecided ? { ...line, isUndecided } : line,
    lineNo,
    isNegative: amount.startsWith('-'),
    isCharge,
    mayBeCharge: isCharge || CHARGE.test(named('details', /^(details|description)$/i) ?? ''),
  };
}

/**
 * Returns the movements among rows. The rows of a receipt are one movement with its charges, so a
 * charge goes only if its receipt has another row. A repeated row counts once.
 * @throws StatementFileError where the signs of a kind differ: money that came back is no movement
 * of the kind
 */
function movementsOf(rows: Row[]): StatementLine[] {
  const principal = new Set(
    rows.filter(({ mayBeCharge }) => !mayBeCharge).map(({ line }) => line.transId),
  );
  const signs = new Map<StatementLine['kind'], boolean>();
  const seen = new Set<string>();
  const isCharge = ({ line, mayBeCharge, ...row }: Row) =>
    row.isCharge || (mayBeCharge && line.transId !== null && principal.has(line.transId));
  const charges = chargesOf(rows.filter(isCharge));
  return rows.flatMap((row) => {
    if (isCharge(row)) return [];
    const { line, lineNo, isNegative } = row;
    const wrong = (problem: string) => new StatementFileError(`line ${lineNo}: ${problem}`);
    // Money that went out again is not money that came in.
    if (line.kind === 'collection' && isNegative && !line.isUndecided) {
      throw wrong('is a collection of a negative amount');
    }
    if (!line.isUndecided) {
      if ((signs.get(line.kind) ?? isNegative) !== isNegative) {
        throw wrong(`has another sign than the ${line.kind}s before it`);
      }
      signs.set(line.kind, isNegative);
    }
    const facts = JSON.stringify(line);
    if (seen.has(facts)) return [];
    seen.add(facts);
    const chargeCents = charges.get(line.transId);
    return [chargeCents === undefined ? line : { ...line, chargeCents }];
  });
}

/** Sums the charges of each receipt. A repeated row counts once. */
function chargesOf(rows: Row[]): ReadonlyMap<string | null, number> {
  const once = new Map(rows.map(({ line }) => [JSON.stringify(line), line]));
  const sums = new Map<string | null, number>();
  for (const { transId, amountCents } of once.values()) {
    if (transId !== null) sums.set(transId, (sums.get(transId) ?? 0) + amountCents);
  }
  return sums;
}

/** Writes a network's 254712345678, 2547 ***** 126 or 0712345678 as E.164. */
function accountOf(account: string | null, isMobileMoney: boolean): string | null {
  if (account === null || !isMobileMoney) return account;
  const masked = account.replaceAll(' ', '').replace(/^(\+?254|0)(?=\d*\*)/, '+254');
  if (isMasked(masked)) return masked;
  if (/^254\d{9}$/.test(account)) return `+${account}`;
  return /^0[17]\d{8}$/.test(account) ? `+254${account.slice(1)}` : account;
}

/** A statement may write an outgoing amount with a minus. Here the kind says the direction. */
const AMOUNT = /^-?(\d{1,3}(?:,\d{3})+|\d{1,10})(?:\.(\d{1,2}))?$/;

function centsOf(text: string): number | null {
  const [, shillings, decimals = ''] = AMOUNT.exec(text) ?? [];
  if (shillings === undefined) return null;
  const cents = Number(`${shillings.replaceAll(',', '')}${decimals.padEnd(2, '0')}`);
  return cents > 0 && Number.isSafeInteger(cents) ? cents : null;
}

const DAY_FIRST = /^(\d\d)[/-](\d\d)[/-](\d{4}) (\d\d:\d\d:\d\d)$/;
const DAY = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(Z|[+-]\d\d:\d\d)?$/;

/** Reads `YYYY-MM-DD HH:MM:SS` with or without an offset, or `DD/MM/YYYY HH:MM:SS`. */
function timeOf(text: string, utcOffset: string): Date | null {
  const yearFirst = text.replace(DAY_FIRST, '$3-$2-$1 $4');
  const [, day = '', time, offset = utcOffset] = DAY.exec(yearFirst) ?? [];
  if (!isDay(day)) return null;
  const moment = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}
