import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_FOLDER } from '../../src/sandbox/service-process.ts';

const MAX_ARCHIVE_BYTES = 100_000_000;

/**
 * The commit of the release before this one: the last tag, or, before there is any, the
 * state before the migrations were last touched.
 * @returns null where there is no history, as in an unpacked archive or a shallow clone.
 */
export function previousRelease(): string | null {
  if (!existsSync(join(ROOT_FOLDER, '.git'))) return null;
  const touched = () => git('log', '-1', '--format=%H', '--', 'migrations');
  const candidates = [() => git('describe', '--tags', '--abbrev=0'), () => `${touched()}^`];
  for (const candidate of candidates) {
    try {
      return git('rev-parse', '--verify', '--quiet', `${candidate()}^{commit}`);
    } catch {
      // The next one, if there is any.
    }
  }
  return null;
}

/** Whether git knows all that ever was, which an unpacked archive and a shallow clone do not. */
export function hasWholeHistory(): boolean {
  if (!existsSync(join(ROOT_FOLDER, '.git'))) return false;
  return git('rev-parse', '--is-shallow-repository') === 'false';
}

/** Unpacks the source of a commit into a folder, with the packages that are installed here. */
export function unpackRelease(commit: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], {
    cwd: ROOT_FOLDER,
    maxBuffer: MAX_ARCHIVE_BYTES,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT_FOLDER, 'node_modules'), join(folder, 'node_modules'));
}

function git(...args: string[]): string {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  return execFileSync('git', args, { cwd: ROOT_FOLDER, encoding: 'utf8', stdio }).trim();
}
