/** The highest seed. */
export const MAX_SEED = 2 ** 32 - 1;

/** Returns a seed that nobody has chosen. */
export function anySeed(): number {
  return Math.floor(Math.random() * MAX_SEED);
}

/** Returns a function that draws numbers from 0 to below 1, always the same for a seed (mulberry32). */
export function createDraws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
