import { type Database, firstRow } from '../connections/database.ts';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import type { RestingQueues } from '../jobs/dispatch-outbox.ts';
import type { Finding } from './liveness.ts';

/** How a queue that is away looks to the one that adds to it, besides refused connections. */
const QUEUE_AWAY = /does not answer|Command timed out/;

/** Whether the outbox has rows that no dispatcher holds. @throws while the database is away */
export async function lookAtOutbox(database: Database): Promise<Finding> {
  const waiting = await firstRow(
    database,
    'SELECT 1 FROM outbox WHERE leased_until < now() LIMIT 1',
  );
  return waiting ? 'due' : 'nothing due';
}

/**
 * Runs a round of the outbox and calls `onWork` unless the round shows that something is
 * wrong here: it failed though nobody was away, or it left alone all that there was.
 */
export async function noteRound(
  round: () => Promise<number>,
  resting: RestingQueues,
  onWork: () => void,
): Promise<number> {
  try {
    const moved = await round();
    if (moved > 0 || resting.size === 0) onWork();
    return moved;
  } catch (error) {
    if (isOutage(error) || QUEUE_AWAY.test(messageOf(error))) onWork();
    throw error;
  }
}
