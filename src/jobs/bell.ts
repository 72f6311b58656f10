import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

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

/** The loops of the dispatcher that others wake. */
export const RUNG_LOOPS = ['outbox', 'deliveries'] as const;
export type RungLoop = (typeof RUNG_LOOPS)[number];

/** The part of a process that rings for the dispatchers of all processes. */
export interface Doorbell {
  /** Call it after the commit. It waits for nothing, and never fails. */
  ring(...loops: RungLoop[]): void;
  /**
   * Until it is connected, it rings for nobody.
   * @param send tells the dispatchers. It may fail.
   */
  connect(send: (loops: RungLoop[]) => Promise<unknown>): void;
}

/** Makes a bell that rings at once, and then no more often than every `intervalMs`. */
export function createDoorbell(intervalMs = RING_INTERVAL_MS): Doorbell {
  let send: Parameters<Doorbell['connect']>[0] | null = null;
  const asked = new Set<RungLoop>();
  let isBusy = false;
  const work = async () => {
    isBusy = true;
    // A job may ring twice as it ends. One message tells both.
    await nextTurn();
    while (asked.size > 0 && send) {
      const loops = [...asked];
      asked.clear();
      await send(loops).catch(() => {});
      await sleep(intervalMs, undefined, { ref: false });
    }
    isBusy = false;
  };
  return {
    connect: (way) => {
      send = way;
    },
    ring: (...loops) => {
      if (!send) return;
      for (const loop of loops) asked.add(loop);
      if (!isBusy) void work();
    },
  };
}

/** Rounds that a loop may begin at once, after a pause. Then they come at its usual pace. */
const ROUNDS_AT_ONCE = 4;

/**
 * Lets a loop that is woken begin some rounds at once. If it is woken all the time, a pause comes before each:
 * then what comes meanwhile goes together.
 */
export class Pace {
  readonly #pauseMs: number;
  #left = ROUNDS_AT_ONCE;

  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs;
  }

  /** Returns how long to pause before the next round, in ms, if the loop has waited for so long. */
  next(waitedMs: number): number {
    this.#left = Math.min(ROUNDS_AT_ONCE, this.#left + waitedMs / this.#pauseMs);
    if (this.#left < 1) return this.#pauseMs;
    this.#left -= 1;
    return 0;
  }
}
