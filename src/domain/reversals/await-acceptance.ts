import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../connections/database.ts';
import { isOutage } from '../../connections/database-errors.ts';
import type { Reversal } from '../payments/reversal.ts';
import { findReversal } from './find-reversal.ts';

/** How long to wait before each look at the row, the last one again and again. */
const LOOK_AFTER_MS = [50, 50, 100, 100, 200, 300, 500];

/**
 * Looks at a reversal, whose job is committed, until it was sent: acknowledged or ended, or
 * not to be sent yet for want of the original's receipt. No connection is held in between.
 * @returns the reversal, or null when that did not come within `waitMs`, or before `signal`
 * said that nobody waits for it any more. The submission goes on all the same.
 */
export async function awaitAcceptance(
  database: Database,
  { merchantId, refNo }: { merchantId: number; refNo: string },
  waitMs: number,
  signal: AbortSignal,
): Promise<Reversal | null> {
  const endsAt = performance.now() + waitMs;
  for (let look = 0; !signal.aborted; look += 1) {
    const reversal = await readIfPossible(database, merchantId, refNo);
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

/** The reversal is recorded, so a database that is away for a moment is no refusal of it. */
async function readIfPossible(
  database: Database,
  merchantId: number,
  refNo: string,
): Promise<Reversal | undefined> {
  try {
    return await findReversal(database, merchantId, refNo);
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
