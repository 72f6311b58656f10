import type { OwnLine, StatementLine } from './statement.ts';
import { StatementFileError } from './statement-cells.ts';
import type { Row } from './statement-row.ts';

/* The rows of one receipt are a movement and its charges. A bank may write one reference at the rows of a batch. */

/** A bank takes no more for a transfer, with its duty. A larger row with words of a charge is money of its own. */
const MAX_CHARGE_CENTS = 60_000;

/** The rows of a receipt, or of a reference in the place of one. */
interface Receipt {
  /** The rows that are charges, and, on the side of money in, charges that came back. */
  charges: ReadonlySet<Row>;
  /** It is a receipt, and has a movement, of which they are the charges. */
  hasMovement: boolean;
}

type Receipts = ReadonlyMap<string, Receipt>;

/**
 * Returns the movements among rows, and the charges that belong to none, such as a monthly fee: these are the operator's
 * own money, and so is the charge of a payment of the day before. A repeated row counts once.
 * @throws StatementFileError where the signs of a kind differ: money that came back is no movement of the kind
 */
export function movementsOf(rows: readonly Row[]): { lines: StatementLine[]; own: OwnLine[] } {
  const repeated = new Set<string>();
  const once = rows.filter(({ line, isIn, isNegative }) => {
    const facts = JSON.stringify([line, isIn, isNegative]);
    return !repeated.has(facts) && repeated.add(facts);
  });
  const receipts = receiptsOf(once);
  const isCharge = (row: Row) => receipts.get(nameOf(row.line))!.charges.has(row);
  const requireSign = signs();
  const lines = once.flatMap((row) => {
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
    return [line];
  });
  return withCharges(lines, once.filter(isCharge), receipts);
}

/** Returns a check that all rows of a kind have the sign of the first one. */
function signs() {
  const known = new Map<StatementLine['kind'] | 'charge', boolean>();
  return (kind: StatementLine['kind'] | 'charge', { lineNo, isNegative }: Row) => {
    if ((known.get(kind) ?? isNegative) !== isNegative) {
      throw wrongLine(lineNo, `has another sign than the ${kind}s before it`);
    }
    known.set(kind, isNegative);
  };
}

export function wrongLine(lineNo: number, problem: string): StatementFileError {
  return new StatementFileError(`line ${lineNo}: ${problem}`);
}

function receiptsOf(rows: readonly Row[]): Receipts {
  const ofReceipts = new Map<string, Row[]>();
  for (const row of rows) {
    const others = ofReceipts.get(nameOf(row.line));
    if (others) others.push(row);
    else ofReceipts.set(nameOf(row.line), [row]);
  }
  return new Map(
    [...ofReceipts].map(([name, all]) => {
      const isReceipt = all[0]!.line.transId !== null;
      // A reference names many movements: words beside them prove nothing, and nobody knows whose charge it is.
      const charges = isReceipt ? chargesAmong(all) : all.filter(({ isCharge }) => isCharge);
      const hasMovement = isReceipt && charges.length < all.length;
      return [name, { charges: new Set(charges), hasMovement }];
    }),
  );
}

/** Returns the receipt of a row, or else its reference. A row has one of the two. */
function nameOf({ transId, reference }: StatementLine): string {
  return (transId ?? reference)!;
}

/**
 * Returns the charges among the rows of a receipt. Customers write words of a charge, too: a small row with such words is
 * one beside other rows, and gives a charge back only as far as charges have gone out.
 */
function chargesAmong(rows: readonly Row[]): Row[] {
  // A row that brings money back is a movement, unless the source itself calls it a charge.
  const all = rows.filter(({ line, mayGiveChargeBack }) => !line.hasComeBack || mayGiveChargeBack);
  const isMoney = largestAmong(all.filter(({ isCharge }) => !isCharge));
  const may = (row: Row) =>
    row.isCharge || (row.mayBeCharge && row.line.amountCents <= MAX_CHARGE_CENTS && !isMoney(row));
  const out = all.filter((row) => !cameIn(row) && may(row));
  let left = sumOf(out);
  const back = all.filter((row) => {
    if (!cameIn(row) || !may(row)) return false;
    if (!row.isCharge && row.line.amountCents > left) return false;
    left -= row.line.amountCents;
    return true;
  });
  return [...out, ...back];
}

function sumOf(rows: readonly Row[]): number {
  const decided = rows.filter(({ line }) => !line.isUndecided);
  return decided.reduce((sum, { line }) => sum + line.amountCents, 0);
}

/**
 * Returns which rows are the money if all rows of a receipt have words of a charge, as where a customer has paid school
 * fees: money that came in, or else the largest that went out.
 */
function largestAmong(all: readonly Row[]): (row: Row) => boolean {
  if (all.some(({ mayBeCharge }) => !mayBeCharge)) return () => false;
  const out = all.filter((row) => !cameIn(row));
  // A charge that came back has a payout and its charge beside it.
  if (out.length < all.length && out.length < 2) return cameIn;
  const settled = out.filter(({ line }) => !line.isUndecided);
  const amounts = (settled.length > 0 ? settled : out).map(({ line }) => line.amountCents);
  const largest = amounts.reduce((one, other) => Math.max(one, other), 0);
  return (row) => !cameIn(row) && row.line.amountCents >= largest;
}

function cameIn({ isIn, line }: Row): boolean {
  return isIn || line.kind === 'collection';
}

/**
 * Gives the charges of each receipt to its movements, of which one payment has the receipt. What came back beyond the
 * charges is the operator's own money.
 */
function withCharges(lines: StatementLine[], charges: readonly Row[], receipts: Receipts) {
  const ofMovements = new Map<string, OwnLine>();
  const own: OwnLine[] = [];
  const decided = charges.filter(({ line }) => !line.isUndecided || line.hasComeBack);
  for (const { line, isIn } of decided) {
    const { completedAt: toldAt } = line;
    const amountCents = isIn ? line.amountCents : -line.amountCents;
    const reference = nameOf(line);
    const known = ofMovements.get(reference)?.amountCents ?? 0;
    if (!receipts.get(reference)!.hasMovement) own.push({ reference, amountCents, toldAt });
    else ofMovements.set(reference, { reference, amountCents: known + amountCents, toldAt });
  }
  const beyond = [...ofMovements.values()].filter(({ amountCents }) => amountCents > 0);
  const told = lines.map((line): StatementLine => {
    const charged = ofMovements.get(nameOf(line));
    return charged ? { ...line, chargeCents: Math.max(0, -charged.amountCents) } : line;
  });
  return { lines: told, own: [...own, ...beyond] };
}
