import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every machine. */
const TICK_MS = 10;

/**
 * Returns a function that tells the CPU time of processes and their children since, in ms or NaN.
 * Processes of one name are counted together.
 */
export function startCpuCount(
  pids: Iterable<readonly [string, number]>,
): () => Map<string, number> {
  const before = [...pids].map(([name, pid]) => [name, pid, cpuTimeMs(pid)] as const);
  return () => {
    const used = new Map<string, number>();
    for (const [name, pid, since] of before) {
      used.set(name, (used.get(name) ?? 0) + cpuTimeMs(pid) - since);
    }
    return used;
  };
}

function cpuTimeMs(pid: number): number {
  const children = contentOf(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? [];
  // A child that ends between two readings is missed by one of them, which costs little.
  return children.reduce((sum, child) => sum + (ownTimeMs(child) || 0), ownTimeMs(pid));
}

/** Adds user and system time, of ended children too. The figures stand after the bracketed name. */
function ownTimeMs(pid: number | string): number {
  const fields = contentOf(`/proc/${pid}/stat`).split(') ')[1]?.split(' ').slice(11, 15);
  return fields?.reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0) ?? Number.NaN;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
