const UNITS_S = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** Returns a span of time in its largest unit, rounded down, such as `3 min`. */
export function spanOf(seconds: number): string {
  const [unit, length] = UNITS_S.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / length)} ${unit}`;
}
