import fc from 'fast-check';

const CRASHES_EACH = 2;
const BETWEEN_MS = { min: 500, max: 3_500 };
const DOWN_MS = { min: 0, max: 2_000 };

export interface Crash {
  /** Of the process. */
  name: string;
  /** How long after the crash before. */
  afterMs: number;
  /** How long until its supervisor starts it again. */
  downMs: number;
}

/** Crashes in random order, of each process equally many; the same ones for the same seed. */
export function planCrashes(names: string[], seed: number): Crash[] {
  const round = fc.shuffledSubarray(names, { minLength: names.length });
  const times = fc.record({ afterMs: fc.integer(BETWEEN_MS), downMs: fc.integer(DOWN_MS) });
  const count = names.length * CRASHES_EACH;
  const plan = fc.tuple(
    fc.tuple(...Array.from({ length: CRASHES_EACH }, () => round)),
    fc.array(times, { minLength: count, maxLength: count }),
  );
  const [rounds, moments] = fc.sample(fc.noBias(plan), { seed, numRuns: 1 })[0]!;
  return rounds.flat().map((name, index) => ({ name, ...moments[index]! }));
}
