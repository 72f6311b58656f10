const MINUTE_MS = 60_000;

/**
 * The turns of a client’s calls that have met the rate limit. They come one after the other, as the
 * service refills the limit: calls that all wait as long as `Retry-After` says meet again.
 */
export class Turns {
  /** When the next turn is. The service counts new payouts apart. */
  readonly #next = { payouts: 0, others: 0 };

  /**
   * Returns how long a call waits for its turn, or null when that is more than its patience.
   * @param pauseMs the least wait
   */
  take(url: string, headers: Headers, pauseMs: number, patienceMs: number): number | null {
    const limit = url.endsWith('/payouts/initiate') ? 'payouts' : 'others';
    const turnAt = Math.max(Date.now() + pauseMs, this.#next[limit]);
    const waitMs = turnAt - Date.now();
    if (waitMs > patienceMs) return null;
    this.#next[limit] = turnAt + MINUTE_MS / Number(headers.get('x-ratelimit-limit') ?? Infinity);
    return waitMs;
  }
}
