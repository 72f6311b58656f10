import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { EmbeddedServiceError } from './embedded-service-error.ts';

/** An account that every system has and that may do nothing; initdb wants one with a name. */
const ACCOUNT = 'nobody';

export interface ServerUser {
  uid: number;
  gid: number;
}

/** Returns the user to run servers as if this one is root, which PostgreSQL refuses; else null. */
export function findServerUser(): ServerUser | null {
  if (process.geteuid?.() !== 0) return null;
  try {
    const idOf = (flag: string) => Number(execFileSync('id', [flag, ACCOUNT]));
    return { uid: idOf('-u'), gid: idOf('-g') };
  } catch {
    throw new EmbeddedServiceError(
      `PostgreSQL refuses to run as root, and there is no account "${ACCOUNT}" to run it as: start as an ordinary user`,
    );
  }
}

/** Returns the options of spawn() that run a program as `user`; null: as this one. */
export function runAs(user: ServerUser | null): Partial<ServerUser> {
  // Node takes signed ids here; the ids of macOS's "nobody" are above that range.
  return user ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
}

/** Returns a temporary folder that `user` can enter, which root's own TMPDIR need not be. */
export function sharedTempFolder(user: ServerUser): string {
  const canEnter = (folder: string) => spawnSync('test', ['-x', folder], runAs(user)).status === 0;
  return [tmpdir(), '/tmp'].find(canEnter) ?? '/var/tmp';
}
