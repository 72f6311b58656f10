import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, firstRow } from '../../src/connections/database.ts';
import { isOutage } from '../../src/connections/database-errors.ts';
import type { ChaosWorld } from './chaos-world.ts';

/** Longer than anybody believes that a call may be going on. */
const FROZEN_MS = 60_000;
/** The workers that are not frozen have recorded an answer by then. */
const HELD_MS = 250;
const PAUSE_MS = 50;
const GIVE_UP_MS = 240_000;

/** A process that only freezes, beside those that die. */
export const FREEZING = { 'submission-frozen': 'submission' } as const;

/** Freezes a submission worker that has claimed payments and not recorded an answer, and lets it go on. */
export async function freezeInSubmission({ crew, database }: ChaosWorld): Promise<void> {
  const [name] = Object.keys(FREEZING) as [string];
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    crew.pause(name);
    await sleep(HELD_MS);
    // On a busy machine PostgreSQL may be restarted just then.
    const held = await countHeld(database).catch((error) => {
      if (isOutage(error)) return 0;
      throw error;
    });
    if (held > 0) {
      console.log(`      frozen with ${held} claims`);
      await sleep(FROZEN_MS);
    }
    crew.resume(name);
    if (held > 0) return;
    if (Date.now() > deadline) throw new Error(`${name} never had a claim when it was frozen`);
    await sleep(PAUSE_MS);
  }
}

/** Claims that nobody has answered for some time. */
async function countHeld(database: Database): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM attempts
     WHERE result IS NULL AND started_at < clock_timestamp() - interval '${HELD_MS - PAUSE_MS} ms'`,
  );
  return row!.count;
}
