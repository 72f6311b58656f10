import { join } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import { type Database, databaseProblem, firstRow, openDatabase } from '../database.ts';
import { createQueueBackend } from '../jobs/backend.ts';
import { migrate } from '../migrations.ts';
import { findFreePort } from '../sandbox/embedded/port.ts';
import { startEmbeddedPostgres } from '../sandbox/embedded/postgres.ts';
import type { Reaper } from '../sandbox/embedded/reaper.ts';
import { ROOT_FOLDER, startServiceProcess } from '../sandbox/service-process.ts';
import { BenchError } from './bench-error.ts';
import { type LoadGenerator, startLoadGenerator } from './load/generator.ts';
import { describeMachine, type Machine, webProgram } from './machine.ts';
import { type BenchMerchant, createMerchants, tokenOf } from './merchants.ts';

export const BENCH_FOLDER = join(ROOT_FOLDER, '.sandbox', 'bench');
export const LOG_FOLDER = join(BENCH_FOLDER, 'logs');

/** The highest that the settings allow: limits are not what is measured. */
const RATE_LIMIT = '100000';
/** What of the caller's environment reaches the service; the rest would make figures differ. */
const PASSED = [
  ...['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS'],
  ...['DATABASE_POOL_MAX', 'LOG_LEVEL', 'REDIS_URL'],
];
const POOL_MAX = 2;

/** What a scenario is played on: the service's processes, all of this run alone. */
export interface Stage {
  config: Config;
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
  machine: Machine;
  /** A fresh access token of a merchant's app; good for some minutes. */
  tokenOf(merchant: BenchMerchant): Promise<string>;
}

export interface StageOptions {
  reaper: Reaper;
  /** Ends the work on the stage when it is aborted. */
  signal: AbortSignal;
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

async function setUp({ reaper, signal }: StageOptions, stops: Stop[]) {
  const postgres = await startEmbeddedPostgres({ folder: join(BENCH_FOLDER, 'postgres'), reaper });
  stops.push(() => postgres.stop());
  signal.throwIfAborted();
  const env = await environmentOf(postgres.url);
  const config = loadConfig(env);
  const database = openDatabase(postgres.url, POOL_MAX, 'malipo-bench');
  stops.push(() => database.destroy());
  const queueBackend = await prepareDatabase(database, config);
  const merchants = await createMerchants(database, config.secretsKeys);
  signal.throwIfAborted();
  const { program, web } = webProgram();
  const service = { name: 'web', program, env, logFolder: LOG_FOLDER, reaper };
  const webProcess = await startServiceProcess(service);
  stops.push(() => webProcess.stop());
  signal.throwIfAborted();
  const generator = await startLoadGenerator(reaper);
  stops.push(() => generator.stop());
  const crashed = Promise.race([
    webProcess.exited.then((how) => `The web process ended (${how}): see ${LOG_FOLDER}/web.log`),
    new Promise<string>((resolve) => postgres.onExit(resolve)),
  ]).then((problem): never => {
    throw new BenchError(problem);
  });
  crashed.catch(() => {});
  const baseUrl = `${config.publicUrl}/api/v1`;
  const machine = describeMachine({
    postgres: await serverVersion(database),
    queueBackend,
    web,
    databasePoolMax: config.databasePoolMax,
    logLevel: config.logLevel,
  });
  const stage: Stage = {
    ...{ config, database, merchants, generator, machine, baseUrl },
    origin: config.publicUrl,
    webPid: webProcess.pid,
    tokenOf: (merchant) => tokenOf(baseUrl, merchant),
  };
  return { stage, crashed };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

async function environmentOf(databaseUrl: string): Promise<NodeJS.ProcessEnv> {
  const port = await findFreePort();
  const passed = PASSED.map((name) => [name, process.env[name]] as const);
  return {
    ...Object.fromEntries(passed.filter(([, value]) => value)),
    MALIPO_ENV: 'sandbox',
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    RATE_LIMIT_PER_MINUTE: RATE_LIMIT,
    RATE_LIMIT_BURST: RATE_LIMIT,
  };
}

async function prepareDatabase(database: Database, config: Config): Promise<string> {
  refuseDistantRedis(config.redisUrl);
  const problem = await databaseProblem(database);
  if (problem) throw new BenchError(problem);
  await migrate(database);
  const backend = createQueueBackend(config);
  await backend.migrate();
  const queueProblem = await backend.problem();
  if (queueProblem) throw new BenchError(queueProblem);
  return backend.name;
}

function refuseDistantRedis(url: string | undefined): void {
  const host = url && new URL(url).hostname;
  if (!host || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)) return;
  throw new BenchError('REDIS_URL must be on this machine: the bench does not leave it');
}

async function serverVersion(database: Database): Promise<string> {
  const row = await firstRow<{ version: string }>(
    database,
    "SELECT current_setting('server_version') AS version",
  );
  return row!.version;
}
