import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { startProgram } from '../../scripts/sandbox/processes/program.ts';
import { findServerUser } from '../../scripts/sandbox/processes/server-user.ts';
import { environment } from './environment.ts';
import { makeFolder } from './make-folder.ts';
import { findProgram } from './programs.ts';

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
  const user = findServerUser();
  if (user) for (const path of [folder, users, settings]) chownSync(path, user.uid, user.gid);
  const program = await startProgram({
    ...{ name: 'PgBouncer', cwd: folder, user, reaper: environment.reaper },
    command: findProgram('pgbouncer')!,
    args: [settings],
    ready: /process up/,
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return { url: url.href, stop: () => program.stop() };
}
