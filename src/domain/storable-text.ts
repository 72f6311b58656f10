/**
 * Text from outside as Postgres can keep it: without NUL and halves of characters, and no
 * longer than is of use.
 */
export function storableText(text: string, maxLength: number): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD').slice(0, maxLength).toWellFormed();
}
