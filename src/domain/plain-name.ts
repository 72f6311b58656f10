/*
 * A bank writes TT/26/123, and a person types TT-26-123 or TT26123. Such names are the same: letters and digits alone count,
 * and capital letters are no other ones.
 */

/** Returns a receipt or a reference with what counts alone; '' if nothing does. */
export function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
}

/** SQL: `plainName`. Indexes have the same expression. */
export const plainNameOf = (name: string) =>
  `upper(regexp_replace(${name}, '[^A-Za-z0-9]', '', 'g'))`;
