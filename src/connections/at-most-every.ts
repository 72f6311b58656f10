/** Whoever asks while it runs waits for the same run; whoever asks soon after, for none. */
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
