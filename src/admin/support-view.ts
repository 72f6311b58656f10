import { formatAmount } from '../domain/money.ts';

/** How rows of the database are shown to support: in full, but never with what lets someone in. */

const MAX_TEXT_LENGTH = 500;
const CENTS = /_cents$/;
/** What proves that a callback's address is ours: whoever has it can report an outcome. */
const ADDRESS_PROOF = /(~(?:collection|payout|reversal|return)~\d+~[0-9a-f-]{36}~)[\w~-]+/g;
/** Control characters, lone surrogates and line separators: what comes from outside may hold any. */
const NOT_PLAIN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** A row as JSON: amounts in shillings, moments in ISO 8601, texts shortened. */
export function rowDocument(row: object, leftOut: readonly string[] = []) {
  const shown = Object.entries(row).filter(([name]) => !leftOut.includes(name));
  return Object.fromEntries(
    shown.map(([name, value]) => [name.replace(CENTS, ''), shownValue(name, value)]),
  );
}

function shownValue(name: string, value: unknown): unknown {
  if (typeof value === 'number' && CENTS.test(name)) return formatAmount(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string') return value;
  return name === 'callback_url' ? withoutQuery(value) : shortened(value);
}

/** A merchant may have put a key of its own into the query. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '?…');
}

/** Text from outside, on one line and no longer than is of use. */
export function shortened(text: string): string {
  const plain = text.replace(NOT_PLAIN, ' ').replace(ADDRESS_PROOF, '$1…');
  return plain.length > MAX_TEXT_LENGTH ? `${plain.slice(0, MAX_TEXT_LENGTH)}…` : plain;
}

/** A document's values for people, by name; what is empty is left out. */
export function textFields(document: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(document)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => [name.replaceAll('_', ' '), textOf(value)]),
  );
}

export function textOf(value: unknown): string {
  return typeof value === 'object' ? shortened(JSON.stringify(value)) : String(value);
}
