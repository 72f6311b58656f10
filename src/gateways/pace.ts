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
/** A longer line is not joined: waiting and calling must fit into the time of stopping. */
const MAX_LINE_MS = 2_000;

/**
 * The rate of the calls to one account with a provider. A busy provider halves it, and every call
 * that is answered widens it again, until nothing waits any more. Each process has its own, so
 * nothing shared can fail.
 */
export class Pace {
  #pauseMs = 0;
  #wentAt = Number.NEGATIVE_INFINITY;
  #narrowedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  /** Ends when the call that came last has gone. */
  #last: Promise<void> = Promise.resolve();

  /** The pause between two calls now, in ms. 0: calls do not wait. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /**
   * Waits in line until the next call may go.
   * @returns 0; or, when the line is too long, the time in ms after which to come again.
   */
  async turn(): Promise<number> {
    const lineMs = this.#waiting * this.#pauseMs;
    // Not all at once: those who come again should find a shorter line.
    if (lineMs > MAX_LINE_MS) return lineMs * (1 + Math.random());
    if (this.#pauseMs === 0) return 0;
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#waitForPause());
    await this.#last;
    return 0;
  }

  /** Begins when the call before has gone, so that a waiting call profits when the pace widens. */
  async #waitForPause(): Promise<void> {
    const leftMs = this.#wentAt + this.#pauseMs - performance.now();
    if (this.#pauseMs > 0 && leftMs > 0) await sleep(leftMs);
    this.#wentAt = performance.now();
    this.#waiting -= 1;
  }

  /** The provider is busy. Calls that were under way together count once. */
  narrow(): void {
    const now = performance.now();
    if (now - this.#narrowedAt < this.#pauseMs) return;
    this.#narrowedAt = now;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * NARROW));
  }

  /** The provider has answered a call. */
  widen(): void {
    const shorter = this.#pauseMs * WIDEN;
    this.#pauseMs = shorter < MIN_PAUSE_MS ? 0 : shorter;
  }
}
