import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_INTERVAL_MS = 25;
/** Generous: it is only reached when what is waited for never comes. */
const GIVE_UP_MS = 30_000;

/** Waits until `look` gives something, and returns that; fails with `what` when it never does. */
export async function eventually<Result>(
  what: string,
  look: () => Promise<Result | null | undefined | false>,
  giveUpMs = GIVE_UP_MS,
): Promise<Result> {
  const deadline = Date.now() + giveUpMs;
  for (;;) {
    const result = await look();
    if (result !== null && result !== undefined && result !== false) return result;
    if (Date.now() > deadline) throw new Error(`It never happened: ${what}`);
    await sleep(LOOK_INTERVAL_MS);
  }
}
