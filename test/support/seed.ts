const MAX_SEED = 2_147_483_647;

/** The seed of a random test: `TEST_SEED`, or another one at each run. */
export function seedOfRun(): number {
  const text = process.env.TEST_SEED ?? String(Math.floor(Math.random() * MAX_SEED));
  if (/^\d+$/.test(text) && Number(text) <= MAX_SEED) return Number(text);
  throw new Error(`TEST_SEED must be a whole number up to ${MAX_SEED}`);
}
