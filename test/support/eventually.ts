import { setTimeout as sleep } from 'node:timers/promises';

/** Looks often at first, then at a tenth of the time that has passed, since each look costs CPU. */
const MIN_INTERVAL_MS = 10;
const MAX_INTERVAL_MS = 100;
/** Generous: it is only reached when what is waited for never comes. */
const GIVE_UP_MS = 240_000;

/** Waits until `look` gives something, and returns that; fails with `what` when it never does. */
export async function eventually<Result>(
  what: string,
  look: () => Promise<Result | null | undefined | false>,
  giveUpMs = GIVE_UP_MS,
): Promise<Result> {
  const begin = Date.now();
  for (;;) {
    const result = await look();
    if (result !== null && result !== undefined && result !== false) return result;
    const waited = Date.now() - begin;
    if (waited > giveUpMs) throw new Error(`It never happened: ${what}`);
    await sleep(Math.min(Math.max(waited / 10, MIN_INTERVAL_MS), MAX_INTERVAL_MS));
  }
}
