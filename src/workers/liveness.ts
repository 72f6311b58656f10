import type { Health } from '../process/operator-server.ts';

/** Work that is due and not begun for so long is stuck: a restart may help. */
const STUCK_AFTER_MS = 60_000;
/** Looks per that time. */
const LOOKS = 4;

/** What a look finds: only `due` is a reason to expect that something is begun. */
export type Finding = 'due' | 'nothing due' | 'paused' | 'rate limited' | 'disconnected';

/** Tells whether a process that has work to do does any of it. */
export interface WorkWatch {
  /**
   * Watches one kind of work from now on. A `look` that throws is a `disconnected`.
   * @returns what to call whenever some of that work is begun.
   */
  add(name: string, look: () => Promise<Finding>): () => void;
  /** Unhealthy when any work has been due for too long and none of it was begun meanwhile. */
  health(): Health;
  /** Each of the works that are watched, for the metrics. */
  works(): { name: string; stuck: boolean }[];
  close(): void;
}

interface Watched {
  name: string;
  look: () => Promise<Finding>;
  isLooking: boolean;
  finding: Finding | 'not looked at yet';
  /** Since when every look has found something due. */
  dueSince: number | null;
  begunAt: number;
}

/** Looks now and then by itself, so that asking for the health costs nothing. */
export function createWorkWatch(stuckAfterMs = STUCK_AFTER_MS): WorkWatch {
  const all: Watched[] = [];
  const lookAtAll = () => {
    for (const watched of all) void lookAt(watched);
  };
  const works = () => all.map((watched) => describe(watched, stuckAfterMs));
  const timer = setInterval(lookAtAll, stuckAfterMs / LOOKS).unref();
  return {
    add: (name, look) => {
      const watched: Watched = {
        name,
        look,
        isLooking: false,
        finding: 'not looked at yet',
        dueSince: null,
        begunAt: performance.now(),
      };
      all.push(watched);
      return () => {
        watched.begunAt = performance.now();
      };
    },
    works,
    health: () => {
      const work = works();
      return { isHealthy: !work.some(({ stuck }) => stuck), details: { work } };
    },
    close: () => clearInterval(timer),
  };
}

async function lookAt(watched: Watched): Promise<void> {
  // A look that takes long is not joined by another.
  if (watched.isLooking) return;
  watched.isLooking = true;
  watched.finding = await watched.look().catch(() => 'disconnected' as const);
  watched.dueSince = watched.finding === 'due' ? (watched.dueSince ?? performance.now()) : null;
  watched.isLooking = false;
}

function describe({ name, finding, dueSince, begunAt }: Watched, stuckAfterMs: number) {
  const now = performance.now();
  const idleMs = dueSince === null ? 0 : now - Math.max(dueSince, begunAt);
  return {
    name,
    state: finding,
    stuck: idleMs >= stuckAfterMs,
    last_begun_ms_ago: Math.round(now - begunAt),
  };
}
