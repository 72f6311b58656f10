import { setTimeout as sleep } from 'node:timers/promises';

/** Lets one loop of a process wake another one, which has work now. */
export class Bell {
  #waiting = new AbortController();
  #hasRung = false;

  ring(): void {
    this.#hasRung = true;
    this.#waiting.abort();
  }

  /** Waits until the bell rings, or for `ms`. Returns at once when it has rung since the last wait. */
  async wait(ms: number): Promise<void> {
    if (!this.#hasRung) {
      await sleep(ms, undefined, { signal: this.#waiting.signal }).catch(() => {});
    }
    this.#hasRung = false;
    this.#waiting = new AbortController();
  }
}
