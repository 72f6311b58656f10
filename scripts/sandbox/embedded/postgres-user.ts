import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedServiceError } from './embedded-service-error.ts';

/** An account that every system has, that may do nothing and that initdb can look up. */
const UNPRIVILEGED_ACCOUNT = 'nobody';

export interface ServerUser {
  uid: number;
  gid: number;
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** Whom the server must run as, for PostgreSQL refuses to run as root; null: as this user. */
export async function findServerUser(): Promise<ServerUser | null> {
  if (!isRoot()) return null;
  const [uid, gid] = await Promise.all([lookUp('-u'), lookUp('-g')]);
  return { uid, gid };
}

/** A temporary folder that every user can enter, which root's own TMPDIR need not be. */
export async function sharedTempFolder(): Promise<string> {
  for (const folder of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await canEveryoneEnter(folder)) return folder;
  }
  throw new EmbeddedServiceError(
    'PostgreSQL refuses to run as root, and no temporary folder is open to other users: set TMPDIR to one that is, or start as an ordinary user',
  );
}

async function lookUp(flag: '-u' | '-g'): Promise<number> {
  const { stdout } = await promisify(execFile)('id', [flag, UNPRIVILEGED_ACCOUNT]).catch(() => {
    throw new EmbeddedServiceError(
      `PostgreSQL refuses to run as root, and there is no account "${UNPRIVILEGED_ACCOUNT}" to run it as: start as an ordinary user`,
    );
  });
  return Number(stdout.trim());
}

async function canEveryoneEnter(folder: string): Promise<boolean> {
  try {
    let path = await realpath(folder);
    for (;;) {
      const { mode } = await stat(path);
      if ((mode & 0o001) === 0) return false;
      if (dirname(path) === path) return true;
      path = dirname(path);
    }
  } catch {
    return false;
  }
}
