import type { StatementLine } from './statement.ts';
import { type Cells, type FoundFormat, ownWordsOf, sideOf } from './statement-cells.ts';
import { ROW_KINDS, type RowKind } from './statement-profile.ts';
import type { Row } from './statement-row.ts';

/* What a row of a statement's file is: a movement of some kind, a charge, or money that has come back. */

/** Words of a charge. A customer may write them, too, as in "School fees". */
export const CHARGE = /\b(charges?|fees?)\b/i;

/** Words of a charge that customers do not write. */
export const IS_OWN_CHARGE = /\b(charges?|commission|excise|tariff)\b/i;

/** The meaning of a row, with the text of its amount. */
export interface Nature extends Pick<Row, 'isNegative' | 'isIn' | 'mayBeCharge' | 'isCharge'> {
  kind: StatementLine['kind'];
  amount: string;
  hasComeBack: boolean;
}

/** Words of a source itself about money that comes in because a payout did not arrive. */
const SENT_BACK =
  /\b(revers(al|ed)|return(s|ed)?|bounced?|unpaid|reject(s|ed|ion)?|recall(ed)?|refund(ed)?|rev|rvsl|rtn|rtd)\b/i;

/** The words of `SENT_BACK` that a source never uses of money that goes out. */
const HAS_BOUNCED = /\b(returned|bounced|unpaid|rejected|rtn|rtd)\b/i;
/** The words of `SENT_BACK` that a source also uses of a reversal itself. */
const IS_REVERSED = /\b(revers(al|ed)|rvsl)\b/i;

/** Reads what a row is: by the kind that it has, by its side, and by the source's own words. */
export function natureOf(cells: Cells, file: FoundFormat): Nature | 'own' {
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
    mayBeCharge: word === 'charge' || (!isIn && CHARGE.test(reason ?? '')),
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
  // A row of a payout on the side of money in brings the payout back. So does a row that the source calls sent back.
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
