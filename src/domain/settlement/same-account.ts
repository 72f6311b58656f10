/*
 * Gateways hide digits of phones in statements, such as +2547*****126. Accounts are compared by the
 * digits that are shown. An account that is not told is null. It contradicts none, and proves none.
 */

/** A phone with hidden digits. Fewer than three digits at its end tell nothing. */
const MASKED = /^(\+\d*)\*+(\d{3,})$/;

/** Tells whether digits of an account are hidden. */
export function isMasked(account: string): boolean {
  return MASKED.test(account);
}

/** Tells whether two accounts may be the same. `sameAccount` is the same rule in SQL. */
export function isSameAccount(one: string, other: string): boolean {
  return one === other || fits(one, other) || fits(other, one);
}

/** Returns accounts without the ones that show less of another one: gateways write one phone in several forms. */
export function withoutForms(accounts: readonly string[]): string[] {
  const kept: string[] = [];
  const hidden = (account: string) => account.split('*').length;
  for (const account of [...accounts].sort((one, other) => hidden(one) - hidden(other))) {
    if (!kept.some((each) => isSameAccount(each, account))) kept.push(account);
  }
  return kept;
}

function fits(masked: string, account: string): boolean {
  const [, head, tail] = MASKED.exec(masked) ?? [];
  if (head === undefined || tail === undefined) return false;
  const isLongEnough = account.length >= head.length + tail.length;
  return isLongEnough && account.startsWith(head) && account.endsWith(tail);
}

/** Returns the condition that two accounts may be the same, as SQL. */
export function sameAccount(one: string, other: string): string {
  return `(${one} = ${other} OR ${fitsInSql(one, other)} OR ${fitsInSql(other, one)})`;
}

/** Tells whether an account shows no digit that a known one does not show. One that is not told shows none. */
export function showsNoMore(account: string | null, known: string | null): boolean {
  return account === null || account === known || (known !== null && fits(account, known));
}

/** Returns the condition that an account shows no digit that a known one does not show, as SQL. */
export function showsNoMoreThan(account: string, known: string): string {
  return `(${account} IS NULL OR ${account} = ${known} OR ${fitsInSql(account, known)})`;
}

function fitsInSql(masked: string, account: string): string {
  return `${masked} ~ '^[+][0-9]*[*]+[0-9]{3,}$'
    AND ${account} LIKE regexp_replace(${masked}, '[*]+', '%')`;
}
