import type { Worker } from 'bullmq';
import { type Database, hasRow } from '../connections/database.ts';
import { isOutage, isReadOnlyError, messageOf } from '../connections/database-errors.ts';
import type { RestingQueues } from '../jobs/dispatch-outbox.ts';
import type { JobData } from '../jobs/job-types.ts';
import { answerOf } from '../jobs/queues.ts';
import type { Health } from '../process/operator-server.ts';
import { MINUTE_MS } from '../time.ts';

/** Work that has been due for so long and was not begun is stuck: a restart may help. */
const STUCK_AFTER_MS = MINUTE_MS;
const PROBES_UNTIL_STUCK = 4;

/** Only `due` is a reason to expect that the process begins something. */
export type ProbeResult = 'due' | 'nothing due' | 'paused' | 'rate limited' | 'disconnected';

export type Liveness = ReturnType<typeof createLiveness>;

interface Work {
  name: string;
  probe: () => Promise<ProbeResult>;
  isProbing: boolean;
  state: ProbeResult | 'not looked at yet';
  /** Since when every probe has found something due. */
  dueSince: number | null;
  begunAt: number;
}

/**
 * Tells whether a process that has work to do does any of it. Probes at intervals, so
 * that asking for the health costs nothing.
 */
export function createLiveness(stuckAfterMs = STUCK_AFTER_MS) {
  const all: Work[] = [];
  const probeAll = () => {
    for (const work of all) void probe(work);
  };
  const timer = setInterval(probeAll, stuckAfterMs / PROBES_UNTIL_STUCK).unref();
  const works = () => all.map((work) => describe(work, stuckAfterMs));
  return {
    /**
     * Watches one kind of work from now on. A probe that throws counts as `disconnected`.
     * @returns the function to call whenever some of that work is begun
     */
    watch: (name: string, probe: () => Promise<ProbeResult>) => {
      const work: Work = {
        name,
        probe,
        isProbing: false,
        state: 'not looked at yet',
        dueSince: null,
        begunAt: performance.now(),
      };
      all.push(work);
      return () => {
        work.begunAt = performance.now();
      };
    },
    works,
    /** Unhealthy while any work is stuck. */
    health: (): Health => {
      const work = works();
      return { isHealthy: !work.some(({ stuck }) => stuck), details: { work } };
    },
    close: () => clearInterval(timer),
  };
}

async function probe(work: Work): Promise<void> {
  if (work.isProbing) return;
  work.isProbing = true;
  work.state = await work.probe().catch(() => 'disconnected' as const);
  work.dueSince = work.state === 'due' ? (work.dueSince ?? performance.now()) : null;
  work.isProbing = false;
}

function describe({ name, state, dueSince, begunAt }: Work, stuckAfterMs: number) {
  const now = performance.now();
  const idleMs = dueSince === null ? 0 : now - Math.max(dueSince, begunAt);
  return {
    name,
    state,
    stuck: idleMs >= stuckAfterMs,
    last_begun_ms_ago: Math.round(now - begunAt),
  };
}

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
