import { chown, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type EmbeddedProcess, endEmbedded, spawnEmbedded } from './embedded-process.ts';
import { embeddedFailure } from './embedded-service-error.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { RunFolder } from './postgres-run.ts';
import type { ServerUser } from './postgres-user.ts';
import type { Reaper } from './reaper.ts';

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;
const CONNECT_TIMEOUT_MS = 5_000;
const FAILED_START_GRACE_MS = 2_000;
/** The time and pid before each line of the server that initdb runs. */
const LOG_PREFIX = /^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] /;

/** All that is the same at every start of one server. */
export interface PostgresSetup {
  binaries: PostgresBinaries;
  run: RunFolder;
  user: ServerUser | null;
  password: string;
  maxConnections: number;
  settings: Readonly<Record<string, string>>;
  reaper: Reaper;
}

/** Somebody else listens at the port; the caller knows whether another one will do. */
export class PortTakenError extends Error {}

export function postgresUrl(password: string, port: number): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** Makes the empty data folder. Throws an EmbeddedServiceError with initdb's own complaint. */
export async function initialiseData(setup: PostgresSetup): Promise<void> {
  const { run, user, password, binaries } = setup;
  const passwordFile = join(run.home, 'password');
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (user) await chown(passwordFile, user.uid, user.gid);
  const initdb = await spawnEmbedded({
    ...spawnOptions(setup),
    command: binaries.initdb,
    args: [
      ...['-D', run.dataDir, '--username', 'postgres', '--pwfile', passwordFile],
      ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
      // The same on every system, and unlike plain C it knows upper and lower case beyond ASCII.
      ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...['--no-sync', '--no-instructions'],
    ],
    signal: 'SIGTERM',
  });
  const ending = await initdb.exited;
  await rm(passwordFile, { force: true });
  if (ending !== 'exit code 0') {
    throw embeddedFailure(
      `PostgreSQL could not set up its data (initdb: ${ending})`,
      findCause(initdb.lines),
      dirname(run.home),
    );
  }
}

/**
 * Starts the server on the data of `setup` and returns once it answers a query.
 * Throws a PortTakenError or an EmbeddedServiceError; no process is left then.
 */
export async function launchServer(setup: PostgresSetup, port: number): Promise<EmbeddedProcess> {
  const { run, binaries } = setup;
  const server = await spawnEmbedded({
    ...spawnOptions(setup),
    command: binaries.postgres,
    args: serverArguments(setup, port),
    // A fast shutdown; SIGTERM would wait for every client to leave.
    signal: 'SIGINT',
  });
  run.noteServer(server.pid);
  const failure = await waitUntilReady(server, postgresUrl(setup.password, port));
  if (failure === null) return server;
  await endEmbedded(server, 'SIGQUIT', FAILED_START_GRACE_MS);
  if (server.lines.some((line) => /could not bind .*Address already in use/.test(line))) {
    throw new PortTakenError(`Port ${port} is taken`);
  }
  const what = `PostgreSQL did not start (${failure})`;
  throw embeddedFailure(what, findCause(server.lines), dirname(run.home));
}

/** The program's own words: the first complaint is the cause, what follows are consequences. */
export function findCause(lines: readonly string[]): string {
  const complaint = lines.find((line) => /\b(FATAL|PANIC|error|could not)\b/.test(line));
  const line = complaint ?? lines.findLast((one) => one.trim() !== '') ?? 'it said nothing';
  return line.replace(LOG_PREFIX, '');
}

function spawnOptions({ run, user, reaper }: PostgresSetup) {
  return {
    cwd: run.home,
    // PGDATA, PGOPTIONS and the like of the launcher are not meant for this server.
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    // Node takes signed ids here; those of macOS's "nobody" are above that range.
    ...(user && { uid: user.uid | 0, gid: user.gid | 0 }),
    reaper,
  };
}

/**
 * The data is thrown away at the end, so nothing waits for the disk. synchronous_commit
 * stays on: without fsync it costs next to nothing, and without it an immediate
 * restart would lose what had been committed a moment before.
 */
function serverArguments(setup: PostgresSetup, port: number): string[] {
  const { run, maxConnections } = setup;
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: maxConnections,
    shared_buffers: '128MB',
    max_wal_size: '256MB',
    fsync: 'off',
    full_page_writes: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '',
    ...setup.settings,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', run.dataDir, ...options];
}

/** Null when the server answers, else what went wrong instead. */
async function waitUntilReady(server: EmbeddedProcess, url: string): Promise<string | null> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (server.ending !== null) return server.ending;
    if (await canConnect(url)) return null;
    await delay(READY_POLL_MS);
  }
  return `no answer for ${READY_TIMEOUT_MS} ms`;
}

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A server that ends in the middle also raises an event, beside the rejection.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
