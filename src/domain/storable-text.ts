/**
 * Controls of the reading direction. With them a text shows other words than it has, such as
 * another amount or name, to whoever decides about a payment.
 */
const DIRECTION = /\p{Bidi_Control}/u;

/** Checks that text is what it shows: no control characters, no lone surrogates. */
export function isPlainText(value: string): boolean {
  return !/\p{Cc}/u.test(value) && !DIRECTION.test(value) && value.isWellFormed();
}

/** Makes text storable in Postgres: replaces NUL and lone surrogates, and shortens it. */
export function storableText(text: string, maxLength: number): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD').slice(0, maxLength).toWellFormed();
}
