import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type EmbeddedProcess,
  endEmbedded,
  spawnEmbedded,
} from '../../scripts/sandbox/embedded/embedded-process.ts';
import { findFreePort, isPortTaken } from '../../scripts/sandbox/embedded/port.ts';
import { findServerUser } from '../../scripts/sandbox/embedded/postgres-user.ts';
import { environment } from './environment.ts';
import { eventually } from './eventually.ts';
import { makeFolder } from './make-folder.ts';
import { findProgram } from './programs.ts';

const STOP_GRACE_MS = 5_000;

export interface Pgbouncer {
  /** The address given, led through here. */
  url: string;
  stop(): Promise<void>;
}

/** PgBouncer that lends at most `serverConnections` by transaction, for the server of `target`. */
export async function startPgbouncer(
  target: string,
  serverConnections: number,
): Promise<Pgbouncer> {
  const { hostname, port, username, password } = new URL(target);
  const folder = makeFolder('pgbouncer');
  const ownPort = await findFreePort();
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 200
`,
  );
  const user = await findServerUser();
  if (user) for (const path of [folder, users, settings]) chownSync(path, user.uid, user.gid);
  const running: EmbeddedProcess = await spawnEmbedded({
    command: findProgram('pgbouncer')!,
    args: [settings],
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    ...(user && { uid: user.uid | 0, gid: user.gid | 0 }),
    reaper: environment.reaper,
    signal: 'SIGTERM',
  });
  await eventually('PgBouncer listens', async () => {
    if (running.ending !== null) throw new Error(`PgBouncer: ${running.lines.join(' ')}`);
    return isPortTaken(ownPort);
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return { url: url.href, stop: () => endEmbedded(running, 'SIGTERM', STOP_GRACE_MS) };
}
