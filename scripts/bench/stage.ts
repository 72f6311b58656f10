import { createWriteStream } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { firstRow, openDatabase } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/service/service.ts';
import { startEmbeddedPostgres } from '../sandbox/embedded/postgres.ts';
import { startEmbeddedRedis } from '../sandbox/embedded/redis.ts';
import { findFreePort } from '../sandbox/processes/port.ts';
import type { Reaper } from '../sandbox/processes/reaper.ts';
import { ROOT_FOLDER } from '../sandbox/programs.ts';
import type { ServiceProcess } from '../sandbox/service-process.ts';
import {
  type StackOptions,
  type StackType,
  startProcess,
  startStack,
  USUAL_TYPES,
} from '../sandbox/stack.ts';
import type { BenchOptions } from './options.ts';
import type { Findings } from './report.ts';

const BENCH_FOLDER = join(ROOT_FOLDER, '.sandbox', 'bench');
export const LOG_FOLDER = join(BENCH_FOLDER, 'logs');
/** The simulator's delay: short, so that the service is what is measured. */
export const SIMULATOR_DELAY_MS = 50;
/** Variables of the caller's that reach the service. The rest would make figures differ. */
const PASSED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'NODE_OPTIONS',
  'DATABASE_POOL_MAX',
  'LOG_LEVEL',
  'LOG_SAMPLE_PERCENT',
];

/** Enough for four processes of each type. */
const MAX_CONNECTIONS_COUNT = 200;

export type Stage = Awaited<ReturnType<typeof openStage>>;
export type Queues = 'postgres' | 'redis';
export type Service = Awaited<ReturnType<typeof startService>>;

/** Starts what one scenario needs: a migrated database, and room for what it starts itself. */
export async function openStage(options: BenchOptions, reaper: Reaper) {
  const log = createWriteStream(join(LOG_FOLDER, 'postgres.log'), { flags: 'a' });
  const postgres = await startEmbeddedPostgres({
    folder: join(BENCH_FOLDER, 'postgres'),
    reaper,
    onLine: (line) => log.write(`${line}\n`),
    settings: {
      max_connections: String(MAX_CONNECTIONS_COUNT),
      // A server that waits for its disk also protects its pages.
      ...(options.fsync && { fsync: 'on', full_page_writes: 'on' }),
    },
  });
  /** Run when the stage is closed, the newest first. */
  const stops: (() => Promise<unknown>)[] = [() => postgres.stop()];
  const env = await environmentOf(postgres.url);
  const config = loadConfig(env);
  const connect = (poolMax: number, isPatient = false) => {
    const opened = openDatabase(postgres.url, poolMax, 'malipo-bench', isPatient);
    stops.push(() => opened.destroy());
    return opened;
  };
  const database = connect(2);
  await migrate(database);
  const findings: Findings = { figures: [], notes: [], problems: [] };
  const baseUrl = `${config.publicUrl}/api/v1`;
  return { options, reaper, findings, stops, postgres, env, config, baseUrl, database, connect };
}

/** Describes what all figures depend on. */
export async function describeMachine({ database, config }: Stage) {
  const postgres = await firstRow<{ version: string; fsync: string }>(
    database,
    "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync",
  );
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGib: Math.round(totalmem() / 1_024 ** 3),
    loadBefore: loadavg()[0]!,
    node: process.versions.node,
    postgres: postgres!.version,
    fsync: postgres!.fsync,
    databasePoolMax: config.databasePoolMax ?? 'by type',
    logLevel: config.logLevel,
  };
}

/** Leaves everything at its default but the rate limits: they are not what is measured. */
async function environmentOf(databaseUrl: string): Promise<NodeJS.ProcessEnv> {
  const [port, simulatorPort] = [await findFreePort(), await findFreePort()];
  return {
    ...Object.fromEntries(PASSED.map((name) => [name, process.env[name] || undefined])),
    MALIPO_ENV: 'sandbox',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    GATEWAY_CALLBACK_URL: `http://127.0.0.1:${port}`,
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
    SIMULATOR_DELAY_MS: String(SIMULATOR_DELAY_MS),
    RATE_LIMIT_PER_MINUTE: '100000',
    RATE_LIMIT_BURST: '100000',
  };
}

/**
 * Starts `copies` processes of each type, and one simulator. They end with the stage, or before by
 * `stop`.
 */
export async function startService(
  stage: Stage,
  { types = USUAL_TYPES, queues = 'postgres', copies = 1, env = {} }: ServiceOptions = {},
) {
  const { stops, config, reaper, postgres, findings } = stage;
  const redis = queues === 'redis' ? await startEmbeddedRedis({ reaper }) : null;
  if (redis) stops.push(() => redis.stop());
  const { database } = stage;
  const backend = await queueBackendOf({ config: { ...config, redisUrl: redis?.url }, database });
  await backend.migrate();
  const common = { ...stage.env, ...env, REDIS_URL: redis?.url };
  const options = { env: common, logFolder: LOG_FOLDER, reaper, from: 'built' } as const;
  const processes = [...(await startStack(options, types))];
  for (let copy = 2; copy <= copies; copy += 1) processes.push(...(await startCopy(options, copy)));
  let isStopping = false;
  for (const [, { name, exited }] of processes) {
    exited.then((how) => isStopping || findings.problems.push(`${name} ended (${how})`));
  }
  const stop = async () => {
    isStopping = true;
    await Promise.all(processes.map(([, child]) => child.stop()));
  };
  stops.push(stop);
  // The simulators are the gateways' side, so they do not count.
  const own = processes.filter(([type]) => type !== 'simulator' && type !== 'daraja');
  const pids = own.map(([type, { pid }]): [StackType, number] => [type, pid]);
  const storePids = new Map([['PostgreSQL', postgres.pid]]);
  if (redis) storePids.set('Redis', redis.pid);
  return { pids, storePids, redisUrl: redis?.url, stop };
}

interface ServiceOptions {
  types?: readonly StackType[];
  queues?: Queues;
  copies?: number;
  /** More variables. */
  env?: NodeJS.ProcessEnv;
}

/** Starts one more process of each type. Its own web process gets its callbacks. */
async function startCopy(
  options: StackOptions,
  copy: number,
): Promise<[StackType, ServiceProcess][]> {
  const port = String(await findFreePort());
  const address = { PORT: port, GATEWAY_CALLBACK_URL: `http://127.0.0.1:${port}` };
  const own = { ...options, env: { ...options.env, ...address } };
  const types = USUAL_TYPES.filter((type) => type !== 'simulator');
  return Promise.all(
    types.map(
      async (type): Promise<[StackType, ServiceProcess]> => [
        type,
        await startProcess(type, own, `${type}-${copy}`),
      ],
    ),
  );
}
