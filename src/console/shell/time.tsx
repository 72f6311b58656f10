const NAIROBI = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Africa/Nairobi',
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
});

/** Returns a moment as people in Nairobi write it, such as `23 Nov 2026, 10:07:22`. */
export function nairobiTime(at: Date): string {
  return NAIROBI.format(at);
}

/** A moment in Nairobi. Whoever points at it reads UTC. */
export function Time({ at }: { at: Date }) {
  const iso = at.toISOString();
  return (
    <time datetime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {nairobiTime(at)}
    </time>
  );
}

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
