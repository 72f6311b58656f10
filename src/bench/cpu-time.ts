import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second, whatever the machine. */
const TICK_MS = 10;
/** After the name of the program, which may contain anything but ends with the last bracket. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/** CPU time that a process has used so far, in ms; null where there is no /proc to ask. */
export function cpuTimeMs(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * TICK_MS;
  } catch {
    return null;
  }
}
