import { setTimeout as sleep } from 'node:timers/promises';

/** The pause between two calls once a provider has said that it is busy. */
export const FIRST_PAUSE_MS = 200;
/** The longest pause. All calls of a process that wait must fit into the time of stopping it. */
export const MAX_PAUSE_MS = 2_000;
/** A pause below this is none. */
export const MIN_PAUSE_MS = 50;
const NARROW = 2;
/** Each call that was answered shortens the pause by this factor. */
const WIDEN = 0.9;

/**
 * The rate of the calls to one account with a provider. A busy provider halves it, and every call
 * that is answered widens it again, until nothing waits any more. Each process has its own, so
 * nothing shared can fail.
 */
export class Pace {
  #pauseMs = 0;
  #wentAt = Number.NEGATIVE_INFINITY;
  #narrowedAt = Number.NEGATIVE_INFINITY;
  /** Ends when the call that came last has gone. */
  #last: Promise<void> = Promise.resolve();

  /** The pause between two calls now. 0: calls do not wait. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /** Waits until the next call may go. */
  async turn(): Promise<void> {
    if (this.#pauseMs === 0) return;
    this.#last = this.#last.then(() => this.#waitForPause());
    await this.#last;
  }

  /** Begins when the call before has gone, so that whoever waits profits when the pace widens. */
  async #waitForPause(): Promise<void> {
    const leftMs = this.#wentAt + this.#pauseMs - performance.now();
    if (this.#pauseMs > 0 && leftMs > 0) await sleep(leftMs);
    this.#wentAt = performance.now();
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
