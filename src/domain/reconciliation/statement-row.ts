import { storableText, withoutJoiners } from '../text.ts';
import { accountOf, balanceOf, centsOf, timeOf } from './cell-values.ts';
import type { OwnLine, StatementLine } from './statement.ts';
import {
  type ColumnName,
  plainHeader,
  ROW_KINDS,
  type RowKind,
  type StatementProfile,
} from './statement-profile.ts';

/* One row of a statement's file, read by the file's form. */

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

/** A row of the file that may be a movement. */
export interface Row {
  line: StatementLine;
  lineNo: number;
  /** Its amount has a minus, which all amounts of its kind must have then. */
  isNegative: boolean;
  /** The row is of a file with two sides, and money came in. */
  isIn: boolean;
  /** The row's words name a charge. A customer may write such words too, as in "School fees". */
  mayBeCharge: boolean;
  /** A column of the source's own words says that it is a charge. */
  isCharge: boolean;
}

const SUCCESS = /^(completed?|success(ful(ly)?)?|succeeded|settled|paid|ok)$/i;
const FAILURE =
  /^(fail(ed|ure)|declined|rejected|cancell?ed|expired|timed ?out|error|unsuccessful)$/i;
const OUR_CURRENCY = /^(KES|KSH|KSHS)$/i;
const CHARGE = /\b(charges?|fees?)\b/i;

/** A row by the names of our columns. */
class Cells {
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
    const found = header.indexOf(plainHeader(column ?? profile.columns[name] ?? name));
    if (column !== undefined && found < 0) {
      throw this.wrong(`there is no column ${JSON.stringify(column)}`);
    }
    if (found !== header.lastIndexOf(header[found] ?? '')) throw this.wrong(`has ${name} twice`);
    return found;
  }
}

/** Reads a row. Returns null for a failure and another currency. */
export function readRow(record: CsvRecord, file: FoundFormat): Row | OwnLine | null {
  const cells = new Cells(record, file);
  const status = cells.named('status', /^(transaction )?status$/);
  if (status !== null && FAILURE.test(status)) return null;
  const currency = cells.named('currency', /^currency$/);
  if (currency !== null && !OUR_CURRENCY.test(currency)) return null;
  if (file.isOwn) return ownLineOf(cells, file, status);
  const nature = natureOf(cells, file);
  if (nature === 'own') return ownLineOf(cells, file, status);
  const { kind, amount, isNegative, isIn, isCharge } = nature;
  const amountCents = centsOf(amount);
  if (amountCents === null && isCharge) return null;
  if (amountCents === null) throw cells.wrong('has no amount');
  const line: StatementLine = { kind, amountCents, ...factsOf(cells, file) };
  const isSuccess = status === null || SUCCESS.test(status);
  const isUndecided = nature.hasComeBack || !isSuccess;
  return {
    line: {
      ...line,
      ...(isUndecided && { isUndecided }),
      ...(nature.hasComeBack && isSuccess && { hasComeBack: true as const }),
    },
    lineNo: record.lineNo,
    isNegative,
    isIn,
    isCharge,
    mayBeCharge: isCharge || nature.mayBeCharge || CHARGE.test(cells.details),
  };
}

/**
 * Reads a row of the operator's own account. Returns null for one that did not succeed, and in a
 * statement of a gateway for one that is not whole.
 */
function ownLineOf(cells: Cells, file: FoundFormat, status: string | null): OwnLine | null {
  const [paidIn, withdrawn] = [sideOf(cells.text('paid_in')), sideOf(cells.text('withdrawn'))];
  if (paidIn && withdrawn) throw cells.wrong('has money on both sides');
  const amount = (cells.isTwoSided ? (paidIn ?? withdrawn) : cells.text('amount')) ?? '';
  const cents = centsOf(amount);
  const utcOffset = file.utcOffset ?? file.profile.utcOffset;
  const toldAt = utcOffset ? timeOf(cells.text('completed_at') ?? '', utcOffset) : null;
  const reference = cells.text('trans_id') ?? referenceOf(cells, file.profile);
  if (cents === null || !toldAt || reference === null) {
    if (!file.isOwn) return null;
    throw cells.wrong('lacks its reference, its amount, or its time with the offset (utc-offset)');
  }
  if (status !== null && !SUCCESS.test(status)) return null;
  // A source may write what went out with a minus. Money in with a minus went out again.
  const isOut = cells.isTwoSided
    ? paidIn === null || paidIn.startsWith('-')
    : amount.startsWith('-');
  const balanceCents = balanceOf(cells.text('balance') ?? '');
  return { reference, amountCents: isOut ? -cents : cents, toldAt, balanceCents };
}

function referenceOf(cells: Cells, profile: StatementProfile): string | null {
  return cells.text('reference') ?? profile.reference?.exec(cells.details)?.[1] ?? null;
}

/** The meaning of a row, with the text of its amount. */
interface Nature extends Pick<Row, 'isNegative' | 'isIn' | 'mayBeCharge' | 'isCharge'> {
  kind: StatementLine['kind'];
  amount: string;
  hasComeBack: boolean;
}

/** Words of a source itself about money that comes in because a payout did not arrive. */
const SENT_BACK =
  /\b(revers(al|ed)|return(s|ed)?|bounced?|unpaid|reject(s|ed|ion)?|recall(ed)?|refund(ed)?|rev|rvsl|rtn|rtd)\b/i;

/** The words among them that a source does not use of money that goes out, and of a payout. */
const HAS_BOUNCED = /\b(returned|bounced|unpaid|rejected|rtn|rtd)\b/i;
const IS_REVERSED = /\b(revers(al|ed)|rvsl)\b/i;

/** Reads what a row is: by the kind that it has, by its side, and by the source's own words. */
function natureOf(cells: Cells, file: FoundFormat): Nature | 'own' {
  const said = kindIn(cells);
  const reason = cells.text('reason');
  if (!cells.isTwoSided) return natureOfKind(cells, said ?? file.kind, reason);
  const named = said ?? file.profile.rows?.find((rule) => rule.words.test(wordsOf(cells)))?.kind;
  const paidIn = sideOf(cells.text('paid_in'));
  const word = paidIn === null ? (named ?? file.kind) : kindOfMoneyIn(cells, file, named);
  if (word === 'own') return word;
  const withdrawn = sideOf(cells.text('withdrawn'));
  if (paidIn && withdrawn) throw cells.wrong('has money on both sides');
  const isIn = paidIn !== null;
  if (word === 'collection' && !isIn) throw cells.wrong('calls money a collection that went out');
  // Money that was taken back is not money that came in.
  if (paidIn?.startsWith('-')) throw cells.wrong('has a negative amount of money in');
  const amount = paidIn ?? withdrawn ?? '';
  const byDirection = isIn ? 'collection' : 'payout';
  return {
    kind: word === undefined || word === 'charge' ? byDirection : word,
    amount,
    isNegative: amount.startsWith('-'),
    isIn,
    isCharge: said === 'charge' || (word === 'charge' && reason !== null && !isIn),
    mayBeCharge: word === 'charge',
    // A reversal pays a customer. One with money in brings back something that the words do not name.
    hasComeBack: word === 'reversal' && isIn,
  };
}

/** Reads a row with one column of amounts, whose kind says the direction. */
function natureOfKind(cells: Cells, word: RowKind | undefined, reason: string | null) {
  if (word === 'own') return word;
  if (word === undefined) throw cells.wrong('is neither collection, payout nor reversal');
  const isCharge = word === 'charge';
  const amount = cells.text('amount') ?? '';
  // No side tells the direction. The row's own column knows better what came in, and a payout may refund an order.
  const isCollected = word === 'collection' && kindIn(cells) === undefined;
  const said = reason ?? '';
  const isBack =
    (isCollected && SENT_BACK.test(said)) ||
    (word === 'payout' && (HAS_BOUNCED.test(said) || IS_REVERSED.test(said))) ||
    (word === 'reversal' && HAS_BOUNCED.test(said));
  return {
    kind: isCharge ? ('payout' as const) : isBack ? ('reversal' as const) : word,
    amount,
    isNegative: amount.startsWith('-'),
    isIn: isBack,
    isCharge,
    mayBeCharge: word === 'payout' && CHARGE.test(reason ?? ''),
    hasComeBack: isBack,
  };
}

/** Returns the kind that stands in the row's own column. */
function kindIn(cells: Cells): RowKind | undefined {
  const word = cells.text('kind')?.toLowerCase();
  if (word === undefined) return undefined;
  const kind = /^fees?$|^charges$/.test(word) ? 'charge' : ROW_KINDS.find((each) => each === word);
  if (!kind) throw cells.wrong('is neither collection, payout nor reversal');
  return kind;
}

/**
 * Returns the kind of a row on the side of money in.
 * @param named is the kind that the row's column or its words name
 */
function kindOfMoneyIn(cells: Cells, file: FoundFormat, named: RowKind | undefined) {
  if (named === 'own' || named === 'collection') return named;
  // What is named as going out, and comes in, has come back. So has what the source itself calls sent back.
  if (named === 'payout' || (!named && file.kind && file.kind !== 'collection')) return 'reversal';
  // Customers of mobile money write the details. A bank's narrative is its own, to the end, unless a rule knows better.
  const narrative = named === undefined ? cells.details : wordsOf(cells);
  const told = cells.text('reason') ?? (file.isMobileMoney ? '' : narrative);
  // The source's own words for a charge are no customer's.
  const isCharge = named === 'charge' && (kindIn(cells) === named || cells.text('reason') !== null);
  return !isCharge && SENT_BACK.test(told) ? 'reversal' : named;
}

/** Returns the words by which a profile tells the kind of a row. */
function wordsOf(cells: Cells): string {
  return cells.text('reason') ?? ownWordsOf(cells.details);
}

/** Reads the names, the party and the time of a row. */
function factsOf(
  cells: Cells,
  { profile, utcOffset = profile.utcOffset, isMobileMoney }: FoundFormat,
): Pick<StatementLine, 'reference' | 'transId' | 'account' | 'completedAt'> {
  const reference = referenceOf(cells, profile);
  const transId = withoutJoiners(cells.text('trans_id') ?? '').trim() || null;
  if (reference === null && transId === null)
    throw cells.wrong('has neither reference nor receipt');
  if (!utcOffset) throw new StatementFileError('needs the offset of its times (utc-offset)');
  const completedAt = timeOf(cells.text('completed_at') ?? '', utcOffset);
  if (completedAt === null) throw cells.wrong('has no time');
  const party = cells.text('account') ?? (cells.isTwoSided ? partyIn(cells.details) : null);
  return { reference, transId, account: accountOf(party, isMobileMoney), completedAt };
}

/** Returns the text of one side's amount; null without money on it. */
function sideOf(text: string | null): string | null {
  return text === null || /^-?0*(\.0*)?$/.test(text) ? null : text;
}

/** Returns the source's own words in details. Names and what a customer typed follow them. */
function ownWordsOf(details: string): string {
  return details.split(/ - |\bacc(?:ount)?\b/i, 1)[0]!;
}

/** Finds the phone in details such as `Business Payment to 2547***126 - JANE DOE`. */
function partyIn(details: string): string | null {
  return /\b(?:from|to|by) (\+?\d[\d* ]{7,}\d)/i.exec(ownWordsOf(details))?.[1] ?? null;
}
