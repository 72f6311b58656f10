import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ServerUser, sharedTempFolder } from './postgres-user.ts';
import { processIdentity } from './process-identity.mjs';
import type { Reaper } from './reaper.ts';

/** The folder of one run, inside the folder that the module owns. */
export const RUN_PREFIX = 'run-';
/** The folder of a run's data where the server's user cannot enter the checkout. */
export const HOME_PREFIX = 'malipo-postgres-run-';
export const NOTE_NAME = 'note.json';

const REMOVE_RETRIES_COUNT = 20;
const REMOVE_RETRY_DELAY_MS = 50;

/** What a later start must know to clean up after a run that could not do it itself. */
export interface RunNote {
  /** The launcher; a run whose launcher lives is no leftover. */
  ownerPid: number;
  ownerIdentity: string | null;
  /** Holds the data; the folder of the run itself, or one in the temporary folder. */
  home: string;
  dataDir: string;
  serverPid: number | null;
}

/** The folders of one run of the server. Each run has its own, so that none waits for another. */
export interface RunFolder {
  /** A folder that the server's user can enter and write. */
  home: string;
  /** Where the data goes; initdb makes it. */
  dataDir: string;
  noteServer(pid: number): void;
  remove(): Promise<void>;
}

/** Makes the folders of a new run, which the reaper removes if this process disappears. */
export async function makeRunFolder(
  folder: string,
  user: ServerUser | null,
  reaper: Reaper,
): Promise<RunFolder> {
  const id = randomBytes(8).toString('hex');
  const run = join(folder, `${RUN_PREFIX}${id}`);
  const home = user ? join(await sharedTempFolder(), `${HOME_PREFIX}${id}`) : run;
  const note: RunNote = {
    ownerPid: process.pid,
    ownerIdentity: processIdentity(process.pid),
    home,
    dataDir: join(home, 'data'),
    serverPid: null,
  };
  makeNotedFolder(folder, run, note, reaper);
  if (user) makeHome(home, user, reaper);
  return {
    home,
    dataDir: note.dataDir,
    noteServer(pid) {
      try {
        writeNote(run, { ...note, serverPid: pid });
      } catch {
        // A full disk. The server also notes its pid with its data, which mostly will do.
      }
    },
    async remove() {
      await removeTree(home);
      await removeTree(run);
    },
  };
}

/** Removes a folder into which the children of an ended server may still write for a moment. */
export async function removeTree(path: string): Promise<void> {
  await rm(path, {
    recursive: true,
    force: true,
    maxRetries: REMOVE_RETRIES_COUNT,
    retryDelay: REMOVE_RETRY_DELAY_MS,
  });
}

/** The folder appears with its note in it: without one, another start would take it for a leftover. */
function makeNotedFolder(folder: string, run: string, note: RunNote, reaper: Reaper): void {
  const unnoted = join(folder, `new-${run.slice(-16)}`);
  reaper.removeFolder(unnoted);
  reaper.removeFolder(run);
  makeFolder(unnoted);
  writeNote(unnoted, note);
  renameSync(unnoted, run);
}

/** Like mkdir's own `recursive`, which calls a read-only disk a path that does not exist. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    // Another start may make the same one at the same time.
    mkdirSync(path, { recursive: true });
  }
}

/** Renamed into place, so that nobody reads half a note. */
function writeNote(run: string, note: RunNote): void {
  const temporary = join(run, `${NOTE_NAME}.new`);
  writeFileSync(temporary, `${JSON.stringify(note)}\n`);
  renameSync(temporary, join(run, NOTE_NAME));
}

function makeHome(home: string, user: ServerUser, reaper: Reaper): void {
  reaper.removeFolder(home);
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, user.uid, user.gid);
}
