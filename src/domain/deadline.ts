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
