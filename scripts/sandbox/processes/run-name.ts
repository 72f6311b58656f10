import { randomBytes } from 'node:crypto';

/** The start of this process tells it from an earlier one with its pid, as containers have. */
const OWN_PREFIX = `run-${process.pid}-${Math.floor(performance.timeOrigin)}-`;

/** Returns a new name for a run's folder, which tells later starts to which process it belongs. */
export function newRunName(): string {
  return `${OWN_PREFIX}${randomBytes(4).toString('hex')}`;
}

export function isRunName(name: string): boolean {
  return name.startsWith('run-');
}

/** Tells whether a name belongs to a run whose process is gone. */
export function isLeftover(name: string): boolean {
  if (!isRunName(name) || name.startsWith(OWN_PREFIX)) return false;
  const pid = Number.parseInt(name.slice('run-'.length), 10);
  if (pid === process.pid) return true;
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EPERM';
  }
}
