/** The pause between two calls once a provider has said that it is busy. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;
/** A shorter pause is none. */
const MIN_PAUSE_MS = 50;
/** A busy provider makes the pause so much longer. */
const NARROW = 2;
/** Each call that was answered makes it so much shorter. */
const WIDEN = 0.9;
/** Nobody waits longer before he looks again: the provider may have recovered. */
export const MAX_WAIT_MS = 10_000;

/**
 * The rate of the calls to one account with a provider. A busy provider halves it, and every call
 * that is answered widens it again, until nothing waits any more. Each process has its own, so
 * nothing shared can fail.
 */
export class Pace {
  #pauseMs = 0;
  #calledAt = Number.NEGATIVE_INFINITY;
  #reservedUntil = Number.NEGATIVE_INFINITY;
  #narrowedAt = Number.NEGATIVE_INFINITY;

  /** The pause between two calls now, in ms. 0: calls do not wait. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /**
   * Takes the turn for one call.
   * @param hasWaited says that an earlier wait for this call is over.
   * @returns the time to wait before asking again, in ms. 0: the call may go now.
   */
  take(hasWaited: boolean): number {
    const now = performance.now();
    const isFree = now >= this.#calledAt + this.#pauseMs;
    if (isFree && (hasWaited || now >= this.#reservedUntil)) {
      this.#calledAt = now;
      return 0;
    }
    this.#reservedUntil = Math.max(now, this.#reservedUntil) + this.#pauseMs;
    return Math.min(MAX_WAIT_MS, this.#reservedUntil - now);
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
    if (this.#pauseMs === 0) this.#reservedUntil = Number.NEGATIVE_INFINITY;
  }
}
