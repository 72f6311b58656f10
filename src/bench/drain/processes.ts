import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFreePort } from '../../sandbox/embedded/port.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../sandbox/embedded/redis.ts';
import type { ServiceProcess } from '../../sandbox/service-process.ts';
import { type StackType, startStack } from '../../sandbox/stack.ts';
import { PROCESS_TYPES } from '../../workers/start-workers.ts';
import { BenchError } from '../bench-error.ts';
import { cpuTimeMs, familyCpuTimeMs } from '../cpu-time.ts';
import { LOG_FOLDER, type Stage } from '../stage.ts';

/** How long the simulator takes to call back: short, so that the line is the service's own. */
export const SIMULATOR_DELAY_MS = 50;

export type Backend = 'postgres' | 'redis';

/** One process of every worker type and the simulator, with their queues in one backend. */
export interface DrainProcesses {
  redisUrl: string | undefined;
  /** Rejects when one of them ends by itself. */
  crashed: Promise<never>;
  /** CPU time so far of the service's processes and its stores, in ms; null where it is unknown. */
  cpuTimesMs(): Map<string, number | null>;
  stop(): Promise<void>;
}

/** Starts them all. @throws EmbeddedServiceError when one does not start */
export async function startDrainProcesses(stage: Stage, backend: Backend): Promise<DrainProcesses> {
  const { reaper } = stage;
  const redis = backend === 'redis' ? await startEmbeddedRedis({ reaper }) : undefined;
  if (redis) stage.stopAtEnd(() => redis.stop());
  const env = await environmentOf(stage, redis?.url);
  const types: StackType[] = ['simulator', ...PROCESS_TYPES];
  const stack = await startStack({ env, logFolder: LOG_FOLDER, reaper }, types);
  const stop = async () => {
    await Promise.all([...stack.values()].map((child) => child.stop()));
    await redis?.stop();
  };
  stage.stopAtEnd(stop);
  return {
    redisUrl: redis?.url,
    crashed: crashOf([...stack.values()]),
    cpuTimesMs: () => cpuTimesOf(stage, stack, redis),
    stop,
  };
}

/** A merchant's side that answers 200 at once, and counts the webhooks by their ids. */
export async function startReceiver(stage: Stage): Promise<{ url: string; ids: Set<string> }> {
  const ids = new Set<string>();
  const server = createServer((request, response) => {
    ids.add(String(request.headers['webhook-id']));
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stage.stopAtEnd(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, ids };
}

async function environmentOf(stage: Stage, redisUrl = ''): Promise<NodeJS.ProcessEnv> {
  const port = await findFreePort();
  return {
    ...stage.env,
    REDIS_URL: redisUrl,
    SIMULATOR_PORT: String(port),
    SIMULATOR_URL: `http://127.0.0.1:${port}`,
    SIMULATOR_DELAY_MS: String(SIMULATOR_DELAY_MS),
  };
}

function crashOf(children: ServiceProcess[]): Promise<never> {
  const crashed = Promise.race(
    children.map(async ({ name, exited }): Promise<never> => {
      throw new BenchError(`${name} ended (${await exited}): see ${LOG_FOLDER}/${name}.log`);
    }),
  );
  // Stopped on purpose, they end too, when nobody waits for this any more.
  crashed.catch(() => {});
  return crashed;
}

/** The simulator is the gateway's side, so it does not count. */
function cpuTimesOf(
  { webPid, postgresPid }: Stage,
  stack: ReadonlyMap<StackType, ServiceProcess>,
  redis: EmbeddedRedis | undefined,
): Map<string, number | null> {
  return new Map([
    ['web', cpuTimeMs(webPid)],
    ...PROCESS_TYPES.map((type) => [type, cpuTimeMs(stack.get(type)!.pid)] as const),
    ['PostgreSQL', familyCpuTimeMs(postgresPid)],
    ...(redis ? [['Redis', cpuTimeMs(redis.pid)] as const] : []),
  ]);
}
