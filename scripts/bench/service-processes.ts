import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { findFreePort } from '../sandbox/embedded/port.ts';
import type { ServiceProcess } from '../sandbox/service-process.ts';
import { type StackType, startStack } from '../sandbox/stack.ts';
import { BenchError } from './bench-error.ts';
import { cpuTimeMs, familyCpuTimeMs } from './cpu-time.ts';
import { LOG_FOLDER, type Stage } from './stage.ts';

/** How long the simulator takes to call back: short, so that the line is the service's own. */
export const SIMULATOR_DELAY_MS = 50;

/** One process of every worker type and the simulator, beside the web process of the stage. */
export interface ServiceProcesses {
  /** Process ids of the service's own, the web process included, by type. */
  pids: ReadonlyMap<string, number>;
  /** Rejects when one of them ends by itself. */
  crashed: Promise<never>;
  /** CPU time so far of the service's processes and its stores, in ms; null where it is unknown. */
  cpuTimesMs(): Map<string, number | null>;
  stop(): Promise<void>;
}

/** Starts them all. @throws EmbeddedServiceError when one does not start */
export async function startServiceProcesses(
  stage: Stage,
  redis: { url: string | undefined; pid: number | null },
): Promise<ServiceProcesses> {
  const env = await environmentOf(stage, redis.url);
  const types: StackType[] = ['simulator', ...PROCESS_TYPES];
  const stack = await startStack({ ...stage.processes, env }, types);
  const stop = async () => {
    await Promise.all([...stack.values()].map((child) => child.stop()));
  };
  stage.stopAtEnd(stop);
  const pids = new Map<string, number>([
    ['web', stage.webPid],
    ...PROCESS_TYPES.map((type) => [type, stack.get(type)!.pid] as const),
  ]);
  return {
    pids,
    crashed: crashOf([...stack.values()]),
    // The simulator is the gateway's side, so it does not count.
    cpuTimesMs: () =>
      new Map([
        ...[...pids].map(([type, pid]) => [type, cpuTimeMs(pid)] as const),
        ['PostgreSQL', familyCpuTimeMs(stage.postgresPid)],
        ...(redis.pid === null ? [] : [['Redis', cpuTimeMs(redis.pid)] as const]),
      ]),
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
    ...stage.processes.env,
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
