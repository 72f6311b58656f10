import { isMasked, isSameAccount } from '../settlement/same-account.ts';
import type { StatementLine } from './statement.ts';

/* A bank writes one reference for a batch: one receipt may stand at several rows of a statement. */

/** A line as it is stored. */
export interface ReadLine extends StatementLine {
  /** An earlier line of the statement has its receipt, at another time. */
  isSecond: boolean;
}

/**
 * Returns the lines of a statement, each with what the ones before it have. If several rows that bring money back have one
 * receipt, it is their reference, so that each is known by its time and account, too.
 */
export function withBatches(lines: readonly StatementLine[]): ReadLine[] {
  const firstOf = new Map<string, StatementLine>();
  const batches = new Set<string>();
  const read = lines.map((line) => {
    const name = nameOf(line);
    const first = name === null ? line : (firstOf.get(name) ?? line);
    if (name !== null) firstOf.set(name, first);
    if (name !== null && line.hasComeBack && isOther(first, line)) batches.add(name);
    return { ...line, isSecond: first.completedAt.getTime() !== line.completedAt.getTime() };
  });
  return read.map((line) =>
    line.hasComeBack && batches.has(nameOf(line) ?? '')
      ? { ...line, transId: null, reference: line.reference ?? line.transId }
      : line,
  );
}

/** Returns what lines of one receipt have in common; null for a line that has none, or that is no movement. */
function nameOf({ transId, kind, isUndecided, hasComeBack }: StatementLine): string | null {
  if (transId === null || (isUndecided && !hasComeBack)) return null;
  return `${hasComeBack ? 'back' : kind} ${transId.toUpperCase()}`;
}

/** Tells whether two rows under one receipt are two. The same row may come twice, with digits hidden. */
function isOther(one: StatementLine, other: StatementLine): boolean {
  if (one.amountCents !== other.amountCents) return true;
  if (one.completedAt.getTime() !== other.completedAt.getTime()) return true;
  if (one.account === null || other.account === null) return false;
  // Two forms of one account may hide different digits.
  const areForms = isMasked(one.account) && isMasked(other.account);
  return !areForms && !isSameAccount(one.account, other.account);
}
