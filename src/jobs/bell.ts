import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Whoever commits work for the dispatcher rings, so that it looks at once. A ring that is lost costs the
 * dispatcher's usual interval and nothing else: what is due is in the tables.
 */

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

/** A process that always has work rings no more often than this. */
const RING_INTERVAL_MS = 25;

/** Rings for the dispatchers of all processes. */
export interface Ringer {
  /** Call it after the commit. It waits for nothing, and never fails. */
  ring(): void;
}

/** The part of a process that rings. Until it is connected, it rings for nobody. */
export interface Doorbell extends Ringer {
  /** @param send tells the dispatchers. It may fail. */
  connect(send: () => Promise<unknown>): void;
}

/** Makes a bell that rings at once, and then no more often than every `intervalMs`. */
export function createDoorbell(intervalMs = RING_INTERVAL_MS): Doorbell {
  let send: (() => Promise<unknown>) | null = null;
  let isAsked = false;
  let isBusy = false;
  const work = async () => {
    isBusy = true;
    while (isAsked && send) {
      isAsked = false;
      await send().catch(() => {});
      await sleep(intervalMs, undefined, { ref: false });
    }
    isBusy = false;
  };
  return {
    connect: (way) => {
      send = way;
    },
    ring: () => {
      if (!send) return;
      isAsked = true;
      if (!isBusy) void work();
    },
  };
}

/** Rounds that a loop may begin at once, after a pause. Then they come at its usual pace. */
const ROUNDS_AT_ONCE = 4;

/**
 * Lets a loop that is woken begin some rounds at once, and no more than one in `intervalMs` if it is woken
 * all the time: then what comes meanwhile goes together.
 */
export class Pace {
  readonly #intervalMs: number;
  #left = ROUNDS_AT_ONCE;
  #at = performance.now();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Returns how long to wait before the next round, in ms, and counts that round. */
  next(now = performance.now()): number {
    const gained = (now - this.#at) / this.#intervalMs;
    this.#left = Math.min(ROUNDS_AT_ONCE, this.#left + gained) - 1;
    this.#at = now;
    return Math.max(0, -this.#left * this.#intervalMs);
  }
}
