import { formatAmount } from '../../domain/money.ts';
import { speltOut, withoutProofs } from '../../domain/text.ts';

const MAX_TEXT_LENGTH = 500;
const CENTS = /_cents$/;
/** Breaks of lines, and tabs. */
const BREAKS = /[\t\n\v\f\r\u0085\p{Zl}\p{Zp}]+/gu;

export type Document = Record<string, unknown>;

/**
 * Converts a row to JSON: amounts in shillings, moments in ISO 8601, texts shortened, and proofs in
 * callback addresses masked. Leaves the columns of `leftOut` out.
 */
export function rowDocument(row: object, leftOut: readonly string[] = []): Document {
  const shown = Object.entries(row).filter(([name]) => !leftOut.includes(name));
  return Object.fromEntries(
    shown.map(([name, value]) => [name.replace(CENTS, ''), shownValue(name, value)]),
  );
}

function shownValue(name: string, value: unknown): unknown {
  if (typeof value === 'number' && CENTS.test(name)) return formatAmount(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string') return value;
  // A merchant may have put a key of its own into the query.
  return name === 'callback_url' ? value.replace(/[?#].*$/s, '?…') : shortened(value);
}

/** Writes JSON on one line, with unseen characters spelt out. Values stay the same. */
export function jsonText(data: unknown): string {
  return speltOut(JSON.stringify(data));
}

/** Shortens a text from outside, and puts it on one line. */
export function shortened(text: string): string {
  const line = plain(text);
  return line.length > MAX_TEXT_LENGTH ? `${line.slice(0, MAX_TEXT_LENGTH)}…` : line;
}

/** Puts a text from outside on one line, with unseen characters spelt out. */
export function plain(text: string): string {
  return withoutProofs(speltOut(text.replace(BREAKS, ' ')));
}
