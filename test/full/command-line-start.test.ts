import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { makeFolder } from '../support/make-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Prints the address of every module that is loaded. */
const HOOKS = `
import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(2, url + '\\n');
  return next(url, context);
}`;

/** Makes a folder of the service, with the source or with the build. */
function folderWith(kind: 'source' | 'build'): string {
  const folder = makeFolder(`malipo-${kind}`);
  for (const name of ['bin', 'package.json']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  if (kind === 'source') {
    for (const name of ['src', 'scripts']) symlinkSync(join(ROOT, name), join(folder, name));
  } else {
    const options = ['-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')];
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), options, { cwd: ROOT });
  }
  const register = `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`;
  writeFileSync(join(folder, 'hooks.mjs'), HOOKS);
  writeFileSync(join(folder, 'register.mjs'), register);
  return folder;
}

/** Runs bin/malipo of a folder. @returns what it prints, and the modules that it loads. */
function run(folder: string, ...args: string[]) {
  const command = ['--import', join(folder, 'register.mjs'), join(folder, 'bin/malipo'), ...args];
  const env = { PATH: process.env.PATH };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    ...{ cwd: '/', env, encoding: 'utf8' },
  });
  expect(status, stderr).to.equal(0);
  return { stdout, modules: stderr.split('\n').filter((line) => line.startsWith('file:')) };
}

const LARGE = ['bullmq', 'ioredis', 'express', 'got', 'winston', 'prom-client', 'zod', 'ajv'];
const packagesOf = (modules: string[]) =>
  new Set(modules.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]));

describe('The start of bin/malipo', () => {
  const folders = { source: '', build: '' };

  before(() => {
    folders.source = folderWith('source');
    folders.build = folderWith('build');
  });

  for (const kind of ['source', 'build'] as const) {
    it(`loads, for --help from the ${kind}, no queues, no HTTP and not the service`, () => {
      const { stdout, modules } = run(folders[kind], '--help');
      expect(stdout).to.match(/^Usage: malipo NOUN VERB/);
      const packages = packagesOf(modules);
      expect(packages).to.include('commander');
      expect([...packages].filter((name) => LARGE.includes(name!))).to.deep.equal([]);
      expect(modules.filter((url) => /main\/boot\.|service\/service\./.test(url))).to.deep.equal(
        [],
      );
    });

    it(`loads, from the ${kind}, only the noun that is named`, () => {
      const { stdout, modules } = run(folders[kind], 'channel', 'pause', '--help');
      expect(stdout).to.match(/^Usage: malipo channel pause CODE/);
      const nouns = modules.flatMap((url) => /admin\/commands\/(\w+)\./.exec(url)?.[1] ?? []);
      expect(nouns).to.have.members(['channel', 'completion']);
    });
  }

  it('is that of the build, without a package of development, where there is one', () => {
    const { modules } = run(folders.build, '--help');
    expect([...packagesOf(modules)])
      .to.not.include('tsx')
      .and.not.include('typescript');
    expect(modules.some((url) => url.endsWith('/dist/src/main/command-line.js'))).to.equal(true);
    expect(modules.filter((url) => url.endsWith('.ts'))).to.deep.equal([]);
  });

  it('works by a link from another folder', () => {
    const link = join(makeFolder('path'), 'malipo');
    symlinkSync(join(folders.build, 'bin/malipo'), link);
    const stdout = execFileSync(link, ['channel', '--help'], { cwd: '/', encoding: 'utf8' });
    expect(stdout).to.match(/^Usage: malipo channel VERB/);
  });
});
