/** Returns the items in the same circle, from another start with each turn. */
export function rotated<T>(items: readonly T[], turn: number): T[] {
  const start = turn % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

/** Writes a number as text in every second pair of turns, as Daraja does now and then. */
export function numberOrText(value: number | string, turn: number): number | string {
  return turn % 4 < 2 ? value : String(value);
}
