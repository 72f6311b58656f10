import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import {
  type EmbeddedServer,
  startServer,
} from '../../scripts/sandbox/embedded/embedded-server.ts';
import {
  type EmbeddedRedis,
  findRedisServer,
  startEmbeddedRedis,
} from '../../scripts/sandbox/embedded/redis.ts';
import { environment } from './environment.ts';
import { eventually } from './eventually.ts';
import { makeFolder } from './make-folder.ts';

/** More than half of them must agree. */
const SENTINELS = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
const NAME = 'malipo';
const PASSWORD = 'sentinel-password';

export interface WatchedRedis {
  /** The settings that lead to the primary. */
  env: { REDIS_URL: string; REDIS_SENTINEL: string };
  primary: EmbeddedRedis;
  /** Waits until the replica is the primary. */
  failedOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A primary and a replica on loopback behind a password, and the Sentinels that watch them. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const folder = makeFolder('sentinels');
  const { reaper } = environment;
  const access = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
  const primary = await startEmbeddedRedis({ reaper, args: access });
  const follows = ['--replicaof', `127.0.0.1 ${primary.port}`];
  const replica = await startEmbeddedRedis({ reaper, args: [...access, ...follows] });
  const client = new Redis({ port: replica.port, host: '127.0.0.1', password: PASSWORD });
  // The test ends servers at will.
  client.on('error', () => {});
  const sees = async (pattern: RegExp) => {
    const what = `the replica with ${pattern.source}`;
    await eventually(what, async () => pattern.test(await client.info('replication')));
  };
  await sees(/master_link_status:up/);
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, (_, index) =>
      startSentinel(join(folder, String(index)), primary.port),
    ),
  );
  await knowEachOther(sentinels);
  const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`);
  return {
    env: { REDIS_URL: `redis://:${PASSWORD}@${addresses.join()}`, REDIS_SENTINEL: NAME },
    primary,
    failedOver: () => sees(/role:master/),
    stop: async () => {
      client.disconnect();
      await Promise.all([...sentinels, primary, replica].map((server) => server.stop()));
    },
  };
}

function startSentinel(folder: string, primaryPort: number): Promise<EmbeddedServer> {
  mkdirSync(folder);
  // A Sentinel writes into its file what it learns.
  const file = join(folder, 'sentinel.conf');
  const settings = [
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} ${QUORUM}`,
    `sentinel auth-pass ${NAME} ${PASSWORD}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} ${10 * DOWN_AFTER_MS}`,
    `requirepass ${PASSWORD}`,
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  return startServer({
    name: 'A Sentinel',
    command: findRedisServer()!,
    cwd: folder,
    reaper: environment.reaper,
    argsAt: (port) => [file, '--sentinel', '--port', String(port), '--bind', '127.0.0.1'],
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    ready: /\+monitor/,
    complaint: /Address already in use|error|fatal/i,
  });
}

/** Until then they would not agree on a failover. */
async function knowEachOther(sentinels: EmbeddedServer[]): Promise<void> {
  const clients = sentinels.map(
    ({ port }) => new Redis({ port, host: '127.0.0.1', password: PASSWORD }),
  );
  await eventually('the Sentinels to know each other and the replica', async () => {
    const states = await Promise.all(clients.map((client) => client.info('sentinel')));
    return states.every((state) => state.includes(`slaves=1,sentinels=${SENTINELS}`));
  });
  for (const client of clients) client.disconnect();
}
