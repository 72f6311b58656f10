import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../connections/database.ts';
import { isOutage } from '../../connections/database-errors.ts';
import type { Reversal } from '../payments/reversal.ts';
import { findReversal, type ReversalName } from './find-reversal.ts';

/** The pauses before each look at the row. The last one repeats. */
const LOOK_AFTER_MS = [50, 50, 100, 100, 200, 300, 500];

/**
 * Waits until a committed reversal was sent: acknowledged or ended, or not to be sent yet
 * because the collection's receipt is missing. Holds no connection between two looks.
 * @returns null when that did not come within `waitMs`, or `signal` says that the caller has
 * gone. The submission goes on all the same.
 */
export async function awaitAcceptance(
  database: Database,
  name: ReversalName,
  waitMs: number,
  signal: AbortSignal,
): Promise<Reversal | null> {
  const endsAt = performance.now() + waitMs;
  for (let look = 0; !signal.aborted; look += 1) {
    const reversal = await readIfPossible(database, name);
    if (reversal && isAnswerable(reversal)) return reversal;
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) return null;
    const pauseMs = LOOK_AFTER_MS[Math.min(look, LOOK_AFTER_MS.length - 1)]!;
    await pause(Math.min(pauseMs, leftMs), signal);
  }
  return null;
}

function isAnswerable({ status, original_trans_id }: Reversal): boolean {
  return status !== 'pending' || original_trans_id === null;
}

/** The reversal is recorded, so a short outage of the database is no refusal of it. */
async function readIfPossible(
  database: Database,
  name: ReversalName,
): Promise<Reversal | undefined> {
  try {
    return await findReversal(database, name);
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
