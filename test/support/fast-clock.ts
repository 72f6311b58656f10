/** Runs something on a machine whose clock is ahead of the database's by so much. */
export async function withFastClock<Result>(
  aheadMs: number,
  run: () => Promise<Result>,
): Promise<Result> {
  const now = Date.now;
  Date.now = () => now() + aheadMs;
  try {
    return await run();
  } finally {
    Date.now = now;
  }
}
