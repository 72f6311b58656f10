import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { type Config, loadConfig } from '../../src/process/config.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../sandbox/embedded/postgres.ts';
import type { Reaper } from '../sandbox/embedded/reaper.ts';
import {
  type EmbeddedRedis,
  findRedisServer,
  startEmbeddedRedis,
} from '../sandbox/embedded/redis.ts';
import { ROOT_FOLDER, type ServiceProcess } from '../sandbox/service-process.ts';
import { type StackOptions, startProcess } from '../sandbox/stack.ts';
import { BenchError } from './bench-error.ts';
import { type LoadGenerator, startLoadGenerator } from './load/generator.ts';
import { describeMachine, type Machine, programsFrom } from './machine.ts';
import { type BenchMerchant, createMerchants, tokenOf } from './merchants.ts';
import { environmentOf, prepareStores } from './service-setup.ts';

const BENCH_FOLDER = join(ROOT_FOLDER, '.sandbox', 'bench');
export const LOG_FOLDER = join(BENCH_FOLDER, 'logs');

const POOL_MAX = 2;

/** What a scenario is played on: processes of the service, for this scenario alone. */
export interface Stage {
  config: Config;
  /** How the service's processes are started here. */
  processes: StackOptions;
  reaper: Reaper;
  /** The launcher's own connections. */
  database: Database;
  /** Of the web process, without a path. */
  origin: string;
  /** Of the API. */
  baseUrl: string;
  merchants: readonly BenchMerchant[];
  generator: LoadGenerator;
  /** Process id of the web process. */
  webPid: number;
  postgresPid: number;
  /** The Redis of this stage alone, if it has one. */
  redisPid: number | null;
  machine: Machine;
  /** A fresh access token of a merchant's app; good for some minutes. */
  tokenOf(merchant: BenchMerchant): Promise<string>;
  /** Has what a scenario starts itself stopped with the stage, however that ends. */
  stopAtEnd(stop: Stop): void;
}

export interface StageOptions {
  reaper: Reaper;
  /** Ends the work on the stage when it is aborted. */
  signal: AbortSignal;
  /** Whether to start a Redis for the queues where REDIS_URL names none and there is a program. */
  redis?: boolean;
}

type Stop = () => Promise<unknown>;

/**
 * Starts database, web process and load generator, lets `work` use them, and stops them,
 * however that ends.
 * @throws BenchError, EmbeddedServiceError when a process ends that should not
 */
export async function onStage<Result>(
  options: StageOptions,
  work: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const stops: Stop[] = [];
  try {
    const { stage, crashed } = await setUp(options, stops);
    return await Promise.race([work(stage), crashed, aborted(options.signal)]);
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => {});
  }
}

/** What has begun is waited for before an interruption counts, so that all of it can be ended. */
async function setUp(options: StageOptions, stops: Stop[]) {
  const { reaper, signal } = options;
  const postgres = await startEmbeddedPostgres({ folder: join(BENCH_FOLDER, 'postgres'), reaper });
  stops.push(() => postgres.stop());
  signal.throwIfAborted();
  const redis = await ownRedis(options);
  stops.push(async () => redis?.stop());
  const env = await environmentOf(postgres.url, redis?.url);
  const config = loadConfig(env);
  const database = openDatabase(postgres.url, POOL_MAX, 'malipo-bench');
  stops.push(() => database.destroy());
  const stores = await prepareStores(database, config);
  const merchants = await createMerchants(database, config.secretsKeys);
  signal.throwIfAborted();
  const processes = { env, logFolder: LOG_FOLDER, reaper, from: programsFrom() };
  const web = await startProcess('web', processes);
  stops.push(() => web.stop());
  signal.throwIfAborted();
  const generator = await startLoadGenerator(reaper);
  stops.push(() => generator.stop());
  const baseUrl = `${config.publicUrl}/api/v1`;
  const stage: Stage = {
    ...{ config, processes, reaper, database, merchants, generator, baseUrl },
    origin: config.publicUrl,
    webPid: web.pid,
    postgresPid: postgres.pid,
    redisPid: redis?.pid ?? null,
    machine: describeMachine(stores, config, processes.from),
    tokenOf: (merchant) => tokenOf(baseUrl, merchant),
    stopAtEnd: (stop) => void stops.push(stop),
  };
  return { stage, crashed: crashOf(web, postgres) };
}

async function ownRedis({ reaper, redis }: StageOptions): Promise<EmbeddedRedis | null> {
  if (!redis || process.env.REDIS_URL || !findRedisServer()) return null;
  return startEmbeddedRedis({ reaper });
}

/** Rejects when one of them ends by itself. */
function crashOf(web: ServiceProcess, postgres: EmbeddedPostgres): Promise<never> {
  const crashed = Promise.race([
    web.exited.then((how) => `The web process ended (${how}): see ${LOG_FOLDER}/web.log`),
    new Promise<string>((resolve) => postgres.onExit(resolve)),
  ]).then((problem): never => {
    throw new BenchError(problem);
  });
  // Stopped on purpose, they end too, when nobody waits for this any more.
  crashed.catch(() => {});
  return crashed;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}
