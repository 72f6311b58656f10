import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { environment } from './environment.ts';
import { eventually } from './eventually.ts';
import { makeFolder } from './make-folder.ts';

const MASTERS = 3;
const SLOTS = 16_384;

export interface RedisCluster {
  /** Two of the nodes, as `REDIS_URL` names them. */
  url: string;
  nodes: EmbeddedRedis[];
  /** How many keys each node has. */
  sizes(): Promise<number[]>;
  stop(): Promise<void>;
}

/** Three masters on loopback that share the slots evenly, behind a password. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = makeFolder('cluster');
  const password = 'cluster-password';
  const nodes = await Promise.all(
    Array.from({ length: MASTERS }, (_, index) => startNode(join(folder, String(index)), password)),
  );
  const clients = nodes.map(({ port }) => new Redis({ host: '127.0.0.1', port, password }));
  // Tests end their nodes at will.
  for (const client of clients) client.on('error', () => {});
  await introduce(clients, nodes);
  return {
    url: `redis://default:${password}@127.0.0.1:${nodes[0]!.port},127.0.0.1:${nodes[1]!.port}`,
    nodes,
    sizes: () => Promise.all(clients.map((client) => client.dbsize())),
    stop: async () => {
      for (const client of clients) client.disconnect();
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function startNode(folder: string, password: string): Promise<EmbeddedRedis> {
  mkdirSync(folder);
  const busPort = String(await findFreePort());
  return startEmbeddedRedis({
    reaper: environment.reaper,
    folder,
    args: [
      ...['--cluster-enabled', 'yes', '--cluster-port', busPort, '--cluster-node-timeout', '2000'],
      ...['--requirepass', password],
    ],
  });
}

/** Each takes its part of the slots; then the first one introduces the others. */
async function introduce(clients: Redis[], nodes: EmbeddedRedis[]): Promise<void> {
  const share = Math.ceil(SLOTS / MASTERS);
  for (const [index, client] of clients.entries()) {
    const last = Math.min((index + 1) * share, SLOTS) - 1;
    await client.cluster('SET-CONFIG-EPOCH', index + 1);
    await client.cluster('ADDSLOTSRANGE', index * share, last);
  }
  for (const { port } of nodes.slice(1)) {
    const busPort = await busPortOf(clients[nodes.findIndex((node) => node.port === port)]!);
    await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', String(port), busPort);
  }
  await eventually('the cluster is whole', async () => {
    const states = await Promise.all(clients.map((client) => client.cluster('INFO')));
    return states.every(
      (state) => /cluster_state:ok/.test(state) && state.includes(`cluster_known_nodes:${MASTERS}`),
    );
  });
}

async function busPortOf(client: Redis): Promise<string> {
  const [, port] = (await client.config('GET', 'cluster-port')) as [string, string];
  return port;
}
