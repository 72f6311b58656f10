/**
 * Returns a function that runs `run`, but not again before `ageMs` after its end. Callers that
 * come while it runs wait for that run; callers that come soon after wait for nothing.
 */
export function atMostEvery(ageMs: number, run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let freshUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    if (!running && performance.now() < freshUntil) return;
    running ??= run().finally(() => {
      freshUntil = performance.now() + ageMs;
      running = null;
    });
    await running;
  };
}
