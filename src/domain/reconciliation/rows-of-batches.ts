import { isMasked, isSameAccount } from '../settlement/same-account.ts';
import type { StatementLine } from './statement.ts';

/* A bank writes one reference for a batch: one receipt may stand at several rows of a statement. */

/** A line as it is stored. */
export interface ReadLine extends StatementLine {
  /** Lines of the statement have its receipt at several times, or of several accounts. */
  isShared: boolean;
}

/**
 * Returns the lines of a statement, each with what the others have. If several rows that bring money back have one
 * receipt, it is their reference, so that each is known by its time and account, too.
 */
export function withBatches(lines: readonly StatementLine[]): ReadLine[] {
  const firstOf = new Map<string, StatementLine>();
  const batches = new Set<string>();
  const shared = new Set<string>();
  for (const line of lines) {
    const name = nameOf(line);
    if (name === null) continue;
    const first = firstOf.get(name) ?? line;
    firstOf.set(name, first);
    if (isOther(first, line)) shared.add(name);
    if (line.hasComeBack && (isOther(first, line) || first.amountCents !== line.amountCents)) {
      batches.add(name);
    }
  }
  return lines.map((line) => {
    const name = nameOf(line) ?? '';
    const read = { ...line, isShared: shared.has(name) };
    if (!batches.has(name)) return read;
    return { ...read, transId: null, reference: line.reference ?? line.transId };
  });
}

/** Returns what lines of one receipt have in common; null for a line that has none, or that is no movement. */
function nameOf({ transId, kind, isUndecided, hasComeBack }: StatementLine): string | null {
  if (transId === null || (isUndecided && !hasComeBack)) return null;
  return `${hasComeBack ? 'back' : kind} ${transId}`;
}

/** Tells whether two lines under one receipt are two. The same line may come twice, with digits hidden. */
function isOther(one: StatementLine, other: StatementLine): boolean {
  if (one.completedAt.getTime() !== other.completedAt.getTime()) return true;
  if (one.account === null || other.account === null) return false;
  // Two forms of one account may hide different digits.
  const areForms = isMasked(one.account) && isMasked(other.account);
  return !areForms && !isSameAccount(one.account, other.account);
}
