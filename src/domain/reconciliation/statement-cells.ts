import { storableText } from '../text.ts';
import type { StatementLine } from './statement.ts';
import { type ColumnName, plainHeader, type StatementProfile } from './statement-profile.ts';

/* The cells of one row of a statement's file, by the file's form. */

/** The form of a statement: its columns, clock and signs. */
export interface StatementFormat {
  /** The file's names of columns that differ from ours. */
  columns: Readonly<Partial<Record<ColumnName, string>>>;
  /** The profiles that it may have. Default: the built-in ones. */
  profiles?: readonly StatementProfile[] | undefined;
  /** The kind of all lines, when nothing in the file says it. */
  kind: StatementLine['kind'] | undefined;
  /** The offset of its times, such as +03:00. Default: the one of the profile. */
  utcOffset: string | undefined;
  /** Its accounts are phones, which networks do not write in E.164. */
  isMobileMoney: boolean;
  /** It is of an account of the operator, and all its rows are about the operator's own money. */
  isOwn?: boolean;
}

/** A statement cannot be used. The message is one line without the path of the file. */
export class StatementFileError extends Error {}

const MAX_TEXT_LENGTH = 500;

/** A row as the file has it. */
export interface CsvRecord {
  cells: string[];
  lineNo: number;
}

/** The form of a file whose header was found. */
export interface FoundFormat extends StatementFormat {
  profile: StatementProfile;
  header: string[];
}

/** A row by the names of our columns. */
export class Cells {
  readonly details: string;
  readonly #record: CsvRecord;
  readonly #file: FoundFormat;

  constructor(record: CsvRecord, file: FoundFormat) {
    this.#record = record;
    this.#file = file;
    if (record.cells.length !== file.header.length) {
      throw this.wrong('has another number of cells than the header');
    }
    this.details = this.named('details', /^(details|description)$/) ?? '';
  }

  wrong(problem: string): StatementFileError {
    return new StatementFileError(`line ${this.#record.lineNo}: ${problem}`);
  }

  /** Returns the text of a column; null for an empty one, or one that the file has not. */
  text(name: ColumnName): string | null {
    return storableText(this.#record.cells[this.#indexOf(name)] ?? '', MAX_TEXT_LENGTH) || null;
  }

  /**
   * Returns the text of a column that must not be read as missing: also if the file has another of
   * the usual names for it.
   */
  named(name: 'status' | 'currency' | 'details', usual: RegExp): string | null {
    const given = this.#indexOf(name);
    const found = given >= 0 ? given : this.#file.header.findIndex((each) => usual.test(each));
    return found < 0 ? null : storableText(this.#record.cells[found]!, MAX_TEXT_LENGTH);
  }

  get isTwoSided(): boolean {
    return this.#indexOf('paid_in') >= 0 && this.#indexOf('withdrawn') >= 0;
  }

  #indexOf(name: ColumnName): number {
    const { columns, header, profile } = this.#file;
    const column = columns[name];
    const inFile = plainHeader(column ?? profile.columns[name] ?? name);
    // Somebody has said that the profile's column is another one.
    const isOther = Object.values(columns).some((each) => plainHeader(each) === inFile);
    const found = column === undefined && isOther ? -1 : header.indexOf(inFile);
    if (column !== undefined && found < 0) {
      throw this.wrong(`there is no column ${JSON.stringify(column)}`);
    }
    if (found !== header.lastIndexOf(header[found] ?? '')) throw this.wrong(`has ${name} twice`);
    return found;
  }
}

/** Returns the text of one side's amount; null without money on it. */
export function sideOf(text: string | null): string | null {
  return text === null || /^-?0*(\.0*)?$/.test(text) ? null : text;
}

/** Returns the source's own words in details. Names and what a customer typed follow them. */
export function ownWordsOf(details: string): string {
  return details.split(/ - |\bacc(?:ount)?\b/i, 1)[0]!;
}
