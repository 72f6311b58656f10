/** Checks that text has no control characters and no lone surrogates. */
export function isStorableText(value: string): boolean {
  return !/\p{Cc}/u.test(value) && value.isWellFormed();
}

/** Makes text storable in Postgres: replaces NUL and lone surrogates, and shortens it. */
export function storableText(text: string, maxLength: number): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD').slice(0, maxLength).toWellFormed();
}
