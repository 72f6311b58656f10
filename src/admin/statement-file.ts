import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import type { StatementLine } from '../domain/reconciliation/statement.ts';
import { storableText } from '../domain/storable-text.ts';
import { UsageError } from './command.ts';
import { shortened } from './support-view.ts';

/** What a statement's columns are called, by what they mean here, where that is another name. */
export type ColumnMap = Readonly<Partial<Record<ColumnName, string>>>;

export const COLUMN_NAMES = [
  'reference',
  'trans_id',
  'account',
  'amount',
  'completed_at',
  'kind',
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

export interface StatementFile {
  path: string;
  columns: ColumnMap;
  /** What all lines are, when no column says it. */
  kind: StatementLine['kind'] | undefined;
  /** Of its times, such as +03:00. */
  utcOffset: string;
  /** Its accounts are phones, which networks write in other forms than E.164. */
  isMobileMoney: boolean;
}

/** A file beyond this is not one period's statement. */
const MAX_LINES = 2_000_000;
const MAX_TEXT_LENGTH = 500;

/**
 * Reads a gateway's statement from a CSV file with a head line.
 * @throws UsageError with the line that cannot be read; then nothing of it counts.
 */
export async function readStatementFile(file: StatementFile): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  const source = createReadStream(file.path);
  const parser = source.pipe(
    parse({ bom: true, columns: true, info: true, skip_empty_lines: true, trim: true }),
  );
  // A pipe does not pass errors on, such as that of a file that is not there.
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser) {
      if (lines.length >= MAX_LINES) throw new UsageError(`has over ${MAX_LINES} lines`);
      lines.push(readLine(record, file, info.lines));
    }
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${file.path} ${error.message}`);
    throw new UsageError(`${file.path} cannot be read: ${shortened((error as Error).message)}`);
  }
  return lines;
}

function readLine(
  record: Record<string, string>,
  file: StatementFile,
  lineNo: number,
): StatementLine {
  const wrong = (what: string) => new UsageError(`line ${lineNo}: ${what}`);
  const text = (name: ColumnName): string | null => {
    const column = file.columns[name];
    if (column !== undefined && record[column] === undefined) {
      throw wrong(`there is no column ${JSON.stringify(column)}`);
    }
    return storableText(record[column ?? name] ?? '', MAX_TEXT_LENGTH) || null;
  };
  const [reference, transId] = [text('reference'), text('trans_id')];
  if (reference === null && transId === null) throw wrong('has neither reference nor receipt');
  const kind = kindOf(text('kind') ?? file.kind);
  if (kind === null) throw wrong('is neither collection, payout nor reversal');
  const amount = text('amount') ?? '';
  const amountCents = centsOf(amount);
  if (amountCents === null) throw wrong('has no amount');
  // Money that went out again is not money that came in.
  if (kind === 'collection' && amount.startsWith('-')) {
    throw wrong('is a collection of a negative amount');
  }
  const completedAt = timeOf(text('completed_at') ?? '', file.utcOffset);
  if (completedAt === null) throw wrong('has no time');
  const account = accountOf(text('account'), file.isMobileMoney);
  return { kind, reference, account, amountCents, transId, completedAt };
}

/** A network's 254712345678 or 0712345678 as E.164. */
function accountOf(account: string | null, isMobileMoney: boolean): string | null {
  if (account === null || !isMobileMoney) return account;
  if (/^254\d{9}$/.test(account)) return `+${account}`;
  return /^0[17]\d{8}$/.test(account) ? `+254${account.slice(1)}` : account;
}

/** What went out may be negative in a statement; here the kind says the direction. */
const AMOUNT = /^-?(\d{1,3}(?:,\d{3})+|\d{1,10})(?:\.(\d{1,2}))?$/;

function centsOf(text: string): number | null {
  const [, shillings, decimals = ''] = AMOUNT.exec(text) ?? [];
  if (shillings === undefined) return null;
  const cents = Number(`${shillings.replaceAll(',', '')}${decimals.padEnd(2, '0')}`);
  return cents > 0 && Number.isSafeInteger(cents) ? cents : null;
}

/** Whether this is a day that there is, YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`);
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(Z|[+-]\d\d:\d\d)?$/;
const DAY_FIRST = /^(\d\d)[/-](\d\d)[/-](\d{4}) (\d\d:\d\d:\d\d)$/;

/** `YYYY-MM-DD HH:MM:SS` with or without an offset, or `DD/MM/YYYY HH:MM:SS`. */
function timeOf(text: string, utcOffset: string): Date | null {
  const [, year, month, day, time, offset] = ISO.exec(text) ?? [];
  const [, day2, month2, year2, time2] = DAY_FIRST.exec(text) ?? [];
  if (year === undefined && year2 === undefined) return null;
  const date = year ? `${year}-${month}-${day}` : `${year2}-${month2}-${day2}`;
  if (!isDay(date)) return null;
  const moment = new Date(`${date}T${time ?? time2}${offset ?? utcOffset}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

function kindOf(word: string | undefined): StatementLine['kind'] | null {
  const kind = word?.toLowerCase();
  return kind === 'collection' || kind === 'payout' || kind === 'reversal' ? kind : null;
}
