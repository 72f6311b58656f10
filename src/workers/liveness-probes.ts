import type { Worker } from 'bullmq';
import { type Database, hasRow } from '../connections/database.ts';
import { isOutage, isReadOnlyError, messageOf } from '../connections/database-errors.ts';
import type { RestingQueues } from '../jobs/dispatch-outbox.ts';
import type { JobData } from '../jobs/job-types.ts';
import { answerOf } from '../jobs/queues.ts';
import type { Liveness, ProbeResult } from './liveness.ts';

/** A queue that takes longer counts as away. */
const PROBE_TIMEOUT_MS = 3_000;
/** The queue library's errors of a queue that is away, besides refused connections. */
const QUEUE_AWAY = /does not answer|Command timed out/;

/**
 * Watches a worker: it is alive while it begins jobs, and also while its queue can be read
 * but not written.
 */
export function watchWorker(worker: Worker<JobData>, liveness: Liveness): void {
  const onWork = liveness.watch(worker.name, () => probeQueue(worker));
  worker.on('active', onWork);
  worker.on('error', (error) => {
    if (isReadOnlyError(error)) onWork();
  });
}

/**
 * Looks for jobs that wait for a worker, and for delayed jobs that are due by now. Uses the
 * worker's own connection, so that the probe takes no other.
 * @throws when the queue does not answer
 */
export async function probeQueue(worker: Worker<JobData>): Promise<ProbeResult> {
  if (worker.isPaused()) return 'paused';
  const backend = worker.getBackend();
  const answers = Promise.all([
    backend.getCounts(['waiting', 'delayed'], Date.now()),
    backend.hasQueueMetaField('paused'),
    backend.getRateLimitTtl(),
  ]);
  const [counts, isPaused, limitedForMs] = await answerOf(worker.name, answers, PROBE_TIMEOUT_MS);
  if (isPaused) return 'paused';
  if (limitedForMs > 0) return 'rate limited';
  return counts.some((count) => count > 0) ? 'due' : 'nothing due';
}

/** Looks for outbox rows that no dispatcher has leased. @throws while the database is away */
export async function probeOutbox(database: Database): Promise<ProbeResult> {
  const waits = 'SELECT 1 FROM outbox WHERE leased_until < now() LIMIT 1';
  return (await hasRow(database, waits)) ? 'due' : 'nothing due';
}

/**
 * Runs a round of the outbox. Calls `onWork` unless the round shows that the dispatcher is
 * stuck: it failed without an outage, or it left alone all rows that there were.
 */
export async function watchRound(
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
