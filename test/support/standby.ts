import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type EmbeddedServer,
  startServer,
} from '../../scripts/sandbox/embedded/embedded-server.ts';
import { findPostgresPrograms } from '../../scripts/sandbox/embedded/postgres-programs.ts';
import { findServerUser } from '../../scripts/sandbox/processes/server-user.ts';
import { firstRow, openDatabase, rows } from '../../src/connections/database.ts';
import { environment } from './environment.ts';
import { eventually } from './eventually.ts';

/** Of the running server, and not of its copy. */
const OWN_FILES = ['postmaster.pid', 'postmaster.opts'];

export interface Standby extends EmbeddedServer {
  /** Makes it the primary. */
  promote(): Promise<void>;
}

/**
 * Starts a server of its own that follows a primary.
 * @param isWaitedFor is true if each commit of the primary is to wait for it
 */
export async function startStandby(
  primary: EmbeddedServer,
  name: string,
  { isWaitedFor }: { isWaitedFor: boolean },
): Promise<Standby> {
  const { reaper } = environment;
  const { dataDir, remove } = await copyOf(primary, name);
  const user = findServerUser();
  const { postgres } = await findPostgresPrograms(dirname(dataDir), user);
  const { username, password, port } = new URL(primary.url);
  const from = `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=${name}`;
  const settings = {
    ...{ listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 300 },
    ...{ fsync: 'off', timezone: 'UTC', cluster_name: name, primary_conninfo: from },
    // The copy has the settings of its primary. Nobody follows this one.
    synchronous_standby_names: '',
  };
  const server = await startServer({
    ...{ name: 'A standby', command: postgres, cwd: dataDir, user, reaper },
    argsAt: (free) => [
      ...['-D', dataDir],
      ...Object.entries({ ...settings, port: free }).flatMap(([key, value]) => [
        '-c',
        `${key}=${value}`,
      ]),
    ],
    urlAt: (free) => {
      const url = new URL(primary.url);
      url.port = String(free);
      return url.href;
    },
    ready: /ready to accept read-only connections/,
    stopSignal: 'SIGINT',
    removeData: async () => remove(),
  });
  if (isWaitedFor) await waitFor(primary, name);
  return Object.assign(server, { promote: () => promote(server) });
}

/** As a base backup is taken: a copy of the data, and the label of the moment at which it began. */
async function copyOf(primary: EmbeddedServer, name: string) {
  const database = openDatabase(primary.url, 1, 'malipo-standby');
  const found = await firstRow<{ data_directory: string }>(database, 'SHOW data_directory');
  const source = found!.data_directory;
  const folder = join(dirname(dirname(source)), `${name}-standby`);
  const dataDir = join(folder, 'data');
  environment.reaper.removeFolder(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await rows(database, `SELECT pg_backup_start('${name}', true)`);
  const isCopied = (path: string) => !OWN_FILES.some((file) => path === join(source, file));
  cpSync(source, dataDir, { recursive: true, filter: isCopied });
  const stopped = await firstRow<{ labelfile: string }>(
    database,
    'SELECT labelfile FROM pg_backup_stop(false)',
  );
  await database.destroy();
  writeFileSync(join(dataDir, 'backup_label'), stopped!.labelfile);
  writeFileSync(join(dataDir, 'standby.signal'), '');
  const user = findServerUser();
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
  execFileSync('chmod', ['700', dataDir]);
  return { dataDir, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** From now on no commit is acknowledged before the standby has it. */
async function waitFor(primary: EmbeddedServer, name: string): Promise<void> {
  const database = openDatabase(primary.url, 1, 'malipo-standby');
  await rows(database, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await rows(database, 'SELECT pg_reload_conf()');
  await eventually('the primary to wait for its standby', async () => {
    const found = await firstRow<{ state: string }>(
      database,
      'SELECT sync_state AS state FROM pg_stat_replication',
    );
    return found?.state === 'sync';
  });
  await database.destroy();
}

async function promote(server: EmbeddedServer): Promise<void> {
  const database = openDatabase(server.url, 1, 'malipo-standby');
  await rows(database, 'SELECT pg_promote(true)');
  await database.destroy();
}
