/**
 * Waits for `work`, but no longer than `timeoutMs`. The work itself goes on; what comes of
 * it later is ignored.
 * @throws the work's error, or one with this message when the time is over
 */
export async function inTime<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  message: string,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new Error(message));
    if (timeoutMs > 0) timer = setTimeout(giveUp, timeoutMs);
    else giveUp();
  });
  try {
    return await Promise.race([late, work]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

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
