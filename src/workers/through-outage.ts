import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../connections/database-errors.ts';
import { RECORDING_MARGIN_MS } from '../process/shutdown-budget.ts';

const DELAY_MS = 1_000;
const TRIES = 1 + RECORDING_MARGIN_MS / DELAY_MS;

/** Does `work`, and again for some seconds while the database is away; then gives up. */
export async function throughOutage<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES || !isOutage(error)) throw error;
      await sleep(DELAY_MS);
    }
  }
}
