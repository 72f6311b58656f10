import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Not on the PATH of every user. */
const SERVER_FOLDER = '/usr/sbin';

/** Whether this run promises to leave nothing out: what is missing then is an error. */
export const REQUIRE_ALL = process.env.REQUIRE_ALL === '1';

/** Where the processes of tests start from: the build, which must be there, or the source. */
export const PROGRAMS_FROM = process.env.PROGRAMS_FROM === 'built' ? 'built' : 'source';

/** describe() for what needs programs that may not be installed: pending where one is missing. */
export function describeWith(
  programs: readonly string[],
  title: string,
  tests: (this: Mocha.Suite) => void,
): void {
  const missing = programs.filter((name) => findProgram(name) === null);
  if (missing.length === 0 || REQUIRE_ALL) describe(title, tests);
  else describe.skip(`${title} (needs ${missing.join(', ')})`, tests);
}

/** Where a program is; null when it is nowhere. */
export function findProgram(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders, SERVER_FOLDER].map((folder) => join(folder, name)).find(canRun) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
