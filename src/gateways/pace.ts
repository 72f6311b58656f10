import { setTimeout as sleep } from 'node:timers/promises';

/** The pause between two calls once a provider has said that it is busy. */
export const FIRST_PAUSE_MS = 200;
export const MAX_PAUSE_MS = 2_000;
/** Ignores a pause shorter than this. */
export const MIN_PAUSE_MS = 50;
/** The factor by which a busy provider makes the pause longer. */
const NARROW = 2;
/** The factor by which each answered call makes the pause shorter. */
const WIDEN = 0.7;
/**
 * No call joins a longer line: its wait and the call must fit into the time of a process to stop.
 */
const MAX_LINE_MS = 2_000;

/**
 * The rate of the calls to one account with a provider. A busy provider halves the rate, and every
 * answered call raises it again, until no call waits. Each process has its own pace, so there is no
 * shared part that can fail.
 */
export class Pace {
  #pauseMs = 0;
  #wentAt = Number.NEGATIVE_INFINITY;
  #narrowedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  /** Resolves when the last call in the line has gone. */
  #last: Promise<void> = Promise.resolve();

  /** The pause between two calls now, in ms. 0: calls do not wait. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /**
   * Waits in line until the next call may go.
   * @returns 0; or, if the line is too long, the time in ms after which the caller comes again.
   */
  async turn(): Promise<number> {
    const lineMs = this.#waiting * this.#pauseMs;
    // A random time, so that the callers do not all come again at once.
    if (lineMs > MAX_LINE_MS) return lineMs * (1 + Math.random());
    if (this.#pauseMs === 0) return 0;
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#waitForPause());
    await this.#last;
    return 0;
  }

  /** Begins when the call before has gone, so a waiting call goes earlier when the pace widens. */
  async #waitForPause(): Promise<void> {
    const leftMs = this.#wentAt + this.#pauseMs - performance.now();
    if (this.#pauseMs > 0 && leftMs > 0) await sleep(leftMs);
    this.#wentAt = performance.now();
    this.#waiting -= 1;
  }

  /**
   * Lengthens the pause after a busy answer. Busy answers to calls under way together count once.
   */
  narrow(): void {
    const now = performance.now();
    if (now - this.#narrowedAt < this.#pauseMs) return;
    this.#narrowedAt = now;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * NARROW));
  }

  /** Shortens the pause after an answered call. */
  widen(): void {
    const shorter = this.#pauseMs * WIDEN;
    this.#pauseMs = shorter < MIN_PAUSE_MS ? 0 : shorter;
  }
}
