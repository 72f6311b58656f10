import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever the machine. */
const TICK_MS = 10;
/** After the name of the program, which may contain anything but ends with the last bracket. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;
/** Of children that have ended and were waited for. */
const CHILDREN_USER_FIELD = 13;
const CHILDREN_SYSTEM_FIELD = 14;

/** CPU time that a process has used so far, in ms; null where there is no /proc to ask. */
export function cpuTimeMs(pid: number): number | null {
  return sumOf(pid, [USER_FIELD, SYSTEM_FIELD]);
}

/** The same with its children, those that have ended included: a PostgreSQL with its sessions. */
export function familyCpuTimeMs(pid: number): number | null {
  const own = sumOf(pid, [USER_FIELD, SYSTEM_FIELD, CHILDREN_USER_FIELD, CHILDREN_SYSTEM_FIELD]);
  if (own === null) return null;
  // A child that ends between the two readings is missed by both, which costs little.
  return childrenOf(pid).reduce((sum, child) => sum + (cpuTimeMs(child) ?? 0), own);
}

/** What each process has used between two readings, for one of `count`. */
export function cpuMsPerOne(
  before: ReadonlyMap<string, number | null>,
  after: ReadonlyMap<string, number | null>,
  count: number,
): Map<string, number | null> {
  return new Map(
    [...after].map(([name, ms]) => {
      const from = before.get(name) ?? null;
      return [name, ms === null || from === null ? null : (ms - from) / count];
    }),
  );
}

/** Null when one of them is. */
export function sumOrNull(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

function sumOf(pid: number, fields: readonly number[]): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const values = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields.reduce((sum, field) => sum + Number(values[field]), 0) * TICK_MS;
  } catch {
    return null;
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
