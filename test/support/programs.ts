import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is that may not be installed; null when it is nowhere. */
export function findProgram(name: string, ...moreFolders: string[]): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...moreFolders];
  const paths = folders.filter((folder) => folder !== '').map((folder) => join(folder, name));
  return paths.find(canRun) ?? null;
}

export function isOnPath(name: string): boolean {
  return findProgram(name) !== null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
