import type { Health } from '../process/operator-server.ts';

/** Work that has been due for so long and was not begun is stuck: a restart may help. */
const STUCK_AFTER_MS = 60_000;
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
 * Tells whether a process that has work to do does any of it. Probes by itself, at intervals, so
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
