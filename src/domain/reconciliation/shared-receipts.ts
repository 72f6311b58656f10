import { OperatorRefusal } from '../errors.ts';
import { isMasked, isSameAccount } from '../settlement/same-account.ts';
import type { StatementLine } from './statement.ts';

/* A receipt names one movement at its gateway. What a bank writes at each row of a batch is a reference. */

/**
 * Refuses a file that has one receipt at several movements: it would not tell which of them is known.
 * @throws OperatorRefusal
 */
export function refuseSharedReceipts(lines: readonly StatementLine[]): void {
  const [shared] = sharedReceipts(lines);
  if (shared === undefined) return;
  throw new OperatorRefusal(
    `It has several movements under the receipt ${shared}: a receipt names one. If one of them is a charge, its words must be in the form. If a bank writes one reference at many rows, say that the column is the reference (profile bank, columns reference=Transaction Reference)`,
  );
}

/** Returns the lines of a gateway's own statement: a receipt that several movements have is their reference. */
export function withoutSharedReceipts(lines: readonly StatementLine[]): StatementLine[] {
  const shared = sharedReceipts(lines);
  return lines.map((line) =>
    line.transId !== null && shared.has(line.transId)
      ? { ...line, transId: null, reference: line.reference ?? line.transId }
      : line,
  );
}

/** Returns the receipts at which several movements stand. */
function sharedReceipts(lines: readonly StatementLine[]): Set<string> {
  const firstOf = new Map<string, StatementLine>();
  const shared = new Set<string>();
  for (const line of lines) {
    const { transId, kind, isUndecided, hasComeBack } = line;
    if (transId === null || (isUndecided && !hasComeBack)) continue;
    // Gateways use one receipt once in each direction.
    const name = `${hasComeBack ? 'back' : kind} ${transId}`;
    const first = firstOf.get(name) ?? line;
    firstOf.set(name, first);
    if (isOther(first, line)) shared.add(transId);
  }
  return shared;
}

/** Tells whether two lines are two movements. The same line may come twice, and hide digits of its account. */
function isOther(one: StatementLine, other: StatementLine): boolean {
  if (one.completedAt.getTime() !== other.completedAt.getTime()) return true;
  // Another amount of one movement contradicts the books. A row that brings money back says nothing of what it repeats.
  if (other.hasComeBack && one.amountCents !== other.amountCents) return true;
  if (one.account === null || other.account === null) return false;
  // Two forms of one account may hide different digits.
  const areForms = isMasked(one.account) && isMasked(other.account);
  return !areForms && !isSameAccount(one.account, other.account);
}
