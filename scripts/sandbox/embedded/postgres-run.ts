import { chownSync, mkdirSync } from 'node:fs';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reaper } from '../processes/reaper.ts';
import { isLeftover, newRunName } from '../processes/run-name.ts';
import { type ServerUser, sharedTempFolder } from '../processes/server-user.ts';

/** The folder of one run of the server. Each run has its own. */
export interface RunFolder {
  /** The server's user can write it, and nobody else can enter it. */
  path: string;
  dataDir: string;
  remove(): Promise<void>;
}

/** Makes the folder of a new run. Its name tells a later start to which process it belongs. */
export function makeRunFolder(folder: string, user: ServerUser | null, reaper: Reaper): RunFolder {
  const run = runFolder(folder, newRunName(), user);
  for (const path of run.paths) {
    reaper.removeFolder(path);
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  if (user) chownSync(run.path, user.uid, user.gid);
  return run;
}

/** Ends the servers and removes the folders of earlier runs whose process is gone. */
export async function clearLeftovers(folder: string, user: ServerUser | null): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(isLeftover)) {
    const run = runFolder(folder, name, user);
    await endServer(run.dataDir);
    await run.remove();
  }
}

/** Root's `folder` may be closed to `user`: the data is elsewhere then, under the same name. */
function runFolder(folder: string, name: string, user: ServerUser | null) {
  const paths = [join(folder, name)];
  if (user) paths.push(join(sharedTempFolder(user), `malipo-postgres-${name}`));
  const path = paths.at(-1)!;
  const remove = async () => {
    // The children of an ended server may still write for a moment.
    const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };
    for (const each of paths.toReversed()) await rm(each, options);
  };
  return { paths, path, dataDir: join(path, 'data'), remove };
}

/**
 * Ends the server of this data. The server works in its data's folder, which tells it from
 * another process that has its pid by now. On a system without /proc it ends without help:
 * PostgreSQL looks every minute whether its data is still there.
 */
async function endServer(dataDir: string): Promise<void> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  const workingFolder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (workingFolder && workingFolder === (await realpath(dataDir))) process.kill(pid, 'SIGQUIT');
}
