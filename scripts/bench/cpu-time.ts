import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every machine. */
const TICK_MS = 10;

/**
 * Begins to count the CPU time of processes, each with its children: PostgreSQL has many.
 * @returns a function that tells what each has used since then, in ms; NaN: unknown
 */
export function startCpuCount(pids: ReadonlyMap<string, number>): () => Map<string, number> {
  const read = () => [...pids].map(([name, pid]) => [name, cpuTimeMs(pid)] as const);
  const before = new Map(read());
  return () => new Map(read().map(([name, after]) => [name, after - before.get(name)!]));
}

function cpuTimeMs(pid: number): number {
  const children = contentOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  // A child that ends between two readings is missed by one of them, which costs little.
  return children.reduce((sum, child) => sum + (ownTimeMs(child) || 0), ownTimeMs(pid));
}

/** User and system time, those of ended children included. They stand after the bracketed name. */
function ownTimeMs(pid: number | string): number {
  const [, fields] = /.*\) (.*)/.exec(contentOf(`/proc/${pid}/stat`)) ?? [];
  const times = fields?.split(' ').slice(11, 15) ?? ['unknown'];
  return times.reduce((sum, time) => sum + Number(time), 0) * TICK_MS;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
