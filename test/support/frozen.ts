/** The clocks of a machine. A frozen process finds out by one of them, or by both. */
export const CLOCKS = { wall: Date, steady: performance } as const;
export type Clock = keyof typeof CLOCKS;

/** Lets one clock go forward at a moment of the test's choice, as after a freeze. */
export async function withFreeze<Result>(
  clock: Clock,
  durationMs: number,
  run: (freeze: () => void) => Promise<Result>,
): Promise<Result> {
  const owner = CLOCKS[clock];
  const now = owner.now;
  try {
    return await run(() => {
      owner.now = () => now.call(owner) + durationMs;
    });
  } finally {
    owner.now = now;
  }
}
