import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { explainError } from './processes/embedded-service-error.ts';
import { isLeftover, isRunName, newRunName } from './processes/run-name.ts';
import { ROOT_FOLDER } from './programs.ts';

/** The folder of all sandboxes of the checkout. */
export const SANDBOX_FOLDER = join(ROOT_FOLDER, '.sandbox');

const LOGS = 'logs';
const PROGRAMS = 'programs';
const FILE = 'sandbox.json';

/** What one sandbox writes. Links beside the folders of all lead to the newest one's. */
export interface RunFolder {
  path: string;
  logs: string;
  /** For the bundles of the programs. */
  programs: string;
  /** The file with addresses and credentials. */
  file: string;
  /** Writes the file, for this user only, and lets the links lead here. */
  publish(content: object): void;
  /** Removes the file and the bundles, which are of no use any more. The logs stay until the next start. */
  end(): void;
}

/**
 * Makes the folder of a new run in `folder`, and removes the folders of runs that have ended.
 * @throws EmbeddedServiceError when `folder` cannot be written
 */
export function openRunFolder(folder: string): RunFolder {
  const name = newRunName();
  const path = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const each of readdirSync(folder).filter(isLeftover)) {
      rmSync(join(folder, each), { recursive: true, force: true });
    }
    mkdirSync(join(path, LOGS), { recursive: true, mode: 0o700 });
    link(folder, LOGS, name);
  } catch (error) {
    throw explainError(error, 'The folder of the sandbox cannot be written', folder);
  }
  const file = join(path, FILE);
  return {
    path,
    file,
    logs: join(path, LOGS),
    programs: join(path, PROGRAMS),
    publish: (content) => {
      writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
      link(folder, LOGS, name);
      link(folder, FILE, name);
    },
    end: () => {
      rmSync(file, { force: true });
      rmSync(join(path, PROGRAMS), { recursive: true, force: true });
      linkNewest(folder);
    },
  };
}

/** Lets the links lead to the newest sandbox, also when one starts or ends meanwhile. */
function linkNewest(folder: string): void {
  const [newest] = publishedIn(folder);
  if (newest) {
    link(folder, LOGS, newest);
    link(folder, FILE, newest);
  } else {
    rmSync(join(folder, FILE), { force: true });
  }
  if (publishedIn(folder)[0] !== newest) linkNewest(folder);
}

/** Returns the names of the sandboxes that run, the newest first. */
function publishedIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => isRunName(name) && !isLeftover(name) && existsSync(join(folder, name, FILE)))
    .sort((one, other) => startOf(other) - startOf(one));
}

function startOf(name: string): number {
  return Number(name.split('-')[2]);
}

/** Lets a link lead to what has its name in a run's folder. There is a link at every moment. */
function link(folder: string, what: string, run: string): void {
  const path = join(folder, what);
  // A folder of an earlier version is in the way.
  if (targetOf(path) === null) rmSync(path, { recursive: true, force: true });
  const temporary = join(folder, run, `${what}.link`);
  symlinkSync(join(run, what), temporary);
  renameSync(temporary, path);
}

function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
