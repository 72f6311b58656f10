import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { EmbeddedServiceError } from '../processes/embedded-service-error.ts';
import type { Reaper } from '../processes/reaper.ts';
import { type EmbeddedServer, startServer } from './embedded-server.ts';

export type EmbeddedRedis = EmbeddedServer;

/** Returns the path of redis-server, or null when it is not on PATH. */
export function findRedisServer(): string | null {
  const { stdout } = spawnSync('/bin/sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' });
  return stdout.trim() || null;
}

/** Starts a Redis server, which keeps nothing on disk, and returns once it answers. */
export async function startEmbeddedRedis(options: {
  reaper: Reaper;
  /** Its working folder, in which it writes nothing; the temporary folder by default. */
  folder?: string;
  /** More arguments of the program. */
  args?: readonly string[];
}): Promise<EmbeddedRedis> {
  const { reaper, folder = tmpdir(), args = [] } = options;
  const command = findRedisServer();
  if (!command) throw new EmbeddedServiceError('redis-server is not on PATH: install Redis');
  return startServer({
    name: 'Redis',
    command,
    cwd: folder,
    reaper,
    argsAt: (port) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      ...['--maxmemory-policy', 'noeviction', ...args],
    ],
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    ready: /ready to accept connections/i,
    complaint: /Address already in use|error|fatal/i,
  });
}
