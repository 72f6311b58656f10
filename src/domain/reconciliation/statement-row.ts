import { withoutJoiners } from '../text.ts';
import { accountOf, balanceOf, centsOf, timeOf } from './cell-values.ts';
import { CHARGE, IS_OWN_CHARGE, natureOf } from './row-nature.ts';
import type { OwnLine, StatementLine } from './statement.ts';
import {
  Cells,
  type CsvRecord,
  type FoundFormat,
  ownWordsOf,
  StatementFileError,
  sideOf,
} from './statement-cells.ts';
import type { StatementProfile } from './statement-profile.ts';

/* One row of a statement's file, read by the file's form. */

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
  /** Its words say that a charge has come back, as no customer writes. */
  mayGiveChargeBack: boolean;
}

const SUCCESS = /^(completed?|success(ful(ly)?)?|succeeded|settled|paid|ok)$/i;
const FAILURE =
  /^(fail(ed|ure)|declined|rejected|cancell?ed|expired|timed ?out|error|unsuccessful)$/i;
const OUR_CURRENCY = /^(KES|KSH|KSHS)$/i;

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
    mayGiveChargeBack: nature.hasComeBack && IS_OWN_CHARGE.test(cells.details),
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

/** Words that stand for no name. As a receipt, one of them would be the receipt of any payment. */
const NO_NAME = /^(-+|n\/?a|null|none|nil|0+|#.*[!?]|#n\/a)$/i;
/** A spreadsheet writes a long number so. */
const SHORTENED = /^\d([.,]\d+)?E\+?\d+$/i;

/** Returns a receipt or a reference; null if the cell has no name. @throws StatementFileError if digits are lost */
function nameIn(cells: Cells, text: string | null): string | null {
  if (text === null || NO_NAME.test(text)) return null;
  if (!SHORTENED.test(text)) return text;
  throw cells.wrong(
    `has ${text}, which a spreadsheet has shortened: export the file again, and save it in no spreadsheet`,
  );
}

/** Reads the names, the party and the time of a row. */
function factsOf(
  cells: Cells,
  { profile, utcOffset = profile.utcOffset, isMobileMoney }: FoundFormat,
): Pick<StatementLine, 'reference' | 'transId' | 'account' | 'completedAt'> {
  const reference = nameIn(cells, referenceOf(cells, profile));
  const transId = nameIn(cells, withoutJoiners(cells.text('trans_id') ?? '').trim() || null);
  if (reference === null && transId === null)
    throw cells.wrong('has neither reference nor receipt');
  if (!utcOffset) throw new StatementFileError('needs the offset of its times (utc-offset)');
  const completedAt = timeOf(cells.text('completed_at') ?? '', utcOffset);
  if (completedAt === null) throw cells.wrong('has no time');
  const party = cells.text('account') ?? (cells.isTwoSided ? partyIn(cells.details) : null);
  return { reference, transId, account: accountOf(party, isMobileMoney), completedAt };
}

/** Finds the phone in details such as `Business Payment to 2547***126 - JANE DOE`. */
function partyIn(details: string): string | null {
  return /\b(?:from|to|by) (\+?\d[\d* ]{7,}\d)/i.exec(ownWordsOf(details))?.[1] ?? null;
}
