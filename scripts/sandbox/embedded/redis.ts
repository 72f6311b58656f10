import { accessSync, constants, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedProcess, endEmbedded, spawnEmbedded } from './embedded-process.ts';
import { EmbeddedServiceError, embeddedFailure } from './embedded-service-error.ts';
import { findFreePort } from './port.ts';
import type { Reaper } from './reaper.ts';

const PORT_TRIES_COUNT = 5;
const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 20;
const PING_TIMEOUT_MS = 1_000;
const STOP_GRACE_MS = 5_000;

/** A Redis server for tests, which keeps nothing on disk. */
export interface EmbeddedRedis {
  url: string;
  port: number;
  pid: number;
  /** Resolves when the server has exited; works on a paused one too. */
  stop(): Promise<void>;
  /** Holds the server with its connections open: it looks hung, as a lost network does. */
  pause(): void;
  resume(): void;
  /** Ends it and starts it again on the same port, empty. */
  restart(): Promise<void>;
}

/** The redis-server program on PATH, or null. */
export function findRedisServer(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'redis-server')).find(isProgram) ?? null;
}

/** Starts redis-server on a free port of 127.0.0.1 and returns once it answers. */
export async function startEmbeddedRedis(options: {
  reaper: Reaper;
  /** Its working folder, in which it writes nothing; the temporary folder by default. */
  folder?: string;
  /** More arguments of the program. */
  args?: readonly string[];
}): Promise<EmbeddedRedis> {
  const { reaper, folder = tmpdir(), args = [] } = options;
  const launched = await launchAtFreePort(folder, reaper, args);
  const { port } = launched;
  let { running } = launched;
  const end = async (): Promise<void> => {
    // A paused process would leave the polite signal unread.
    signal(running, 'SIGCONT');
    await endEmbedded(running, 'SIGTERM', STOP_GRACE_MS);
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return running.pid;
    },
    stop: end,
    pause: () => signal(running, 'SIGSTOP'),
    resume: () => signal(running, 'SIGCONT'),
    async restart() {
      await end();
      running = await launch(port, folder, reaper, args);
    },
  };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function launchAtFreePort(folder: string, reaper: Reaper, args: readonly string[]) {
  for (let tries = 1; ; tries += 1) {
    const port = await findFreePort();
    try {
      return { port, running: await launch(port, folder, reaper, args) };
    } catch (error) {
      const isPortTaken = error instanceof Error && /Address already in use/.test(error.message);
      if (!isPortTaken || tries === PORT_TRIES_COUNT) throw error;
    }
  }
}

async function launch(
  port: number,
  folder: string,
  reaper: Reaper,
  args: readonly string[],
): Promise<EmbeddedProcess> {
  const command = findRedisServer();
  if (command === null) {
    throw new EmbeddedServiceError('redis-server is not on PATH: install Redis');
  }
  const running = await spawnEmbedded({
    command,
    args: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      ...['--maxmemory-policy', 'noeviction', ...args],
    ],
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    reaper,
    signal: 'SIGTERM',
  });
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (running.ending === null && performance.now() < deadline) {
    if (await answersPing(port)) return running;
    await delay(READY_POLL_MS);
  }
  await endEmbedded(running, 'SIGTERM', STOP_GRACE_MS);
  const cause = running.lines.find((line) => /Address already in use|error|fatal/i.test(line));
  throw embeddedFailure('Redis did not start', cause ?? running.lines.at(-1) ?? '', folder);
}

function signal(running: EmbeddedProcess, name: NodeJS.Signals): void {
  if (running.ending === null) process.kill(running.pid, name);
}

async function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PING_TIMEOUT_MS, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    // One that wants a password first is there as well.
    socket.once('data', (data) => finish(/^(\+PONG|-NOAUTH)/.test(data.toString())));
  });
}
