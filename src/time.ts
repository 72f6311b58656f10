export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * A moment by two clocks of this machine. A process that was frozen finds out by the steady
 * clock, or by the wall clock if the whole machine was frozen and the steady clock with it.
 */
export interface Deadline {
  /** By the wall clock, in ms since 1970. */
  wallMs: number;
  /** By `performance.now()`, which nobody sets. */
  steadyMs: number;
}

/** Begins to count now, by both clocks. */
export function deadlineIn(ms: number): Deadline {
  return { wallMs: Date.now() + ms, steadyMs: performance.now() + ms };
}

/** Returns the time that is left, by the clock that says less. It is negative after the deadline. */
export function msUntil({ wallMs, steadyMs }: Deadline): number {
  return Math.min(wallMs - Date.now(), steadyMs - performance.now());
}

/** Tells whether one of the clocks has passed the deadline. */
export function isPast(deadline: Deadline): boolean {
  return msUntil(deadline) <= 0;
}

/**
 * Waits for `work`, but no longer than `timeoutMs`. The work itself goes on, and its late result
 * is ignored.
 * @throws the error of the work, or an error with this message after the timeout
 */
export async function waitAtMost<Result>(
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
 * Returns a function that calls `run` at most once per `ageMs`, counted from the end of a run.
 * A call during a run waits for that run. A call soon after a run returns at once.
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

/** Lets a client's own timeout come first, because its error names the phase that was late. */
const ABORT_GRACE_MS = 500;

/**
 * Runs `work` with a signal that aborts it shortly after `timeoutMs`. A client's own timeout
 * misses some cases, such as an answer that switches protocols.
 */
export async function abortAfter<Result>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error('timeout')),
    timeoutMs + ABORT_GRACE_MS,
  );
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
