import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { databaseProblem } from '../../src/connections/database-fault.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/process/config.ts';
import { BootError } from '../../src/process/lifecycle.ts';
import { demonstrate } from './demonstration.ts';
import { EmbeddedServiceError, explainError } from './embedded/embedded-service-error.ts';
import { findFreePort, isPortTaken } from './embedded/port.ts';
import { startEmbeddedPostgres } from './embedded/postgres.ts';
import { type Reaper, startReaper } from './embedded/reaper.ts';
import { refuseForeignDatabase, type SandboxMerchant, seedMerchants } from './seed.ts';
import { ROOT_FOLDER } from './service-process.ts';
import { startStack } from './stack.ts';

const FOLDER = join(ROOT_FOLDER, '.sandbox');
const LOG_FOLDER = join(FOLDER, 'logs');
/** Mobile money, and the banks KCB, Co-operative and Equity. */
const SIMULATED_CHANNELS = [63902, 63903, 63907, 1, 11, 68]
  .map((code) => `${code}=simulator`)
  .join(',');
const FILE = join(FOLDER, 'sandbox.json');
const DEFAULT_API_PORT = 8080;
const DEFAULT_SIMULATOR_PORT = 8090;
const SWEEP_GRACE_MS = 5_000;

type Stop = () => Promise<unknown>;

export interface SandboxOptions {
  /** Ends after the demonstration. */
  exitAfterwards?: boolean;
  /** For development: no demonstration, the logs as they come, and each change at work at once. */
  reload?: boolean;
}

/**
 * Starts everything that the service consists of, plays the demonstration and stays until
 * it is told to stop.
 * @returns the exit status: 0 when the demonstration went as it should.
 */
export async function runSandbox(options: SandboxOptions = {}): Promise<number> {
  const { exitAfterwards = false, reload = false } = options;
  const stops: Stop[] = [];
  const stopSignal = signalled();
  try {
    const started = start(stops, stopSignal, reload);
    const first = await Promise.race([started, stopSignal.then(() => null)]);
    // Stopped while starting: what has begun is waited for, so that all of it can be ended.
    if (first === null) {
      await started.catch(() => {});
      return 0;
    }
    say(exitAfterwards ? '\nDone.' : whereToGoNext(first.baseUrl));
    if (exitAfterwards) return 0;
    const crashed = await Promise.race([stopSignal, first.crashed]);
    if (crashed) throw new EmbeddedServiceError(crashed);
    say('\nStopping …');
    return 0;
  } catch (error) {
    console.error(`\n${problemOf(error)}`);
    return 1;
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => {});
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; a second one exits at once, and the reaper tidies up. */
function signalled(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve(undefined);
        process.once(signal, () => process.exit(1));
      });
    }
  });
}

interface Running {
  baseUrl: string;
  /** Resolves with what happened when a process ends that should not. */
  crashed: Promise<string>;
}

async function start(
  stops: Stop[],
  stopSignal: Promise<unknown>,
  reload: boolean,
): Promise<Running> {
  say('Malipo sandbox: the whole service on this machine, with a simulated gateway\n');
  prepareFolder();
  const reaper = await startReaper();
  stops.push(() => reaper.close());
  const ports = {
    api: await portFor('PORT', DEFAULT_API_PORT),
    simulator: await portFor('SIMULATOR_PORT', DEFAULT_SIMULATOR_PORT),
  };
  const databaseUrl = process.env.DATABASE_URL || (await startDatabase(reaper, stops));
  const env = environmentOf(databaseUrl, ports);
  const config = loadConfig(env);
  const database = openDatabase(config, 2, 'malipo-sandbox');
  stops.push(() => database.destroy());
  await prepareDatabase(database, env);
  const merchants = await seedMerchants(database, config.secretsKeys);
  say('  two merchants    each with an app, users and a filled payout wallet');
  const stack = await startStack({ env, logFolder: LOG_FOLDER, reaper, reload });
  stops.push(() => Promise.all([...stack.values()].map((child) => child.stop())));
  say(`  processes        ${[...stack.keys()].join(', ')}`);
  const baseUrl = `${config.publicUrl}/api/v1`;
  const metricsUrls = [...stack.values()].flatMap(({ operatorUrl }) =>
    operatorUrl ? [`${operatorUrl}/metrics`] : [],
  );
  const { simulatorUrl: gatewayUrl, redisUrl } = config;
  writeFile({ baseUrl, gatewayUrl, metricsUrls, databaseUrl, redisUrl }, merchants);
  const stage = {
    baseUrl,
    gatewayUrl: config.simulatorUrl,
    database,
    merchant: merchants[0]!,
    say,
  };
  const crashed = Promise.race(
    [...stack.values()].map(async (child) => {
      const how = await child.exited;
      return `The process ${child.name} ended (${how}): see ${join(LOG_FOLDER, `${child.name}.log`)}`;
    }),
  );
  if (!reload) await Promise.race([demonstrate(stage), crashed.then(fail), stopSignal]);
  return { baseUrl, crashed };
}

function fail(problem: string): never {
  throw new EmbeddedServiceError(problem);
}

function prepareFolder(): void {
  try {
    rmSync(FILE, { force: true });
    rmSync(LOG_FOLDER, { recursive: true, force: true });
    mkdirSync(LOG_FOLDER, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainError(error, 'The folder of the sandbox cannot be written', FOLDER);
  }
}

async function portFor(variable: string, standard: number): Promise<number> {
  const port = portIn(variable, standard);
  if (port === 0) return findFreePort();
  if (await isPortTaken(port)) {
    throw new EmbeddedServiceError(
      `Port ${port} is taken: set ${variable} to another one, or 0 for any free one`,
    );
  }
  return port;
}

const MAX_PORT = 65_535;

function portIn(variable: string, standard: number): number {
  const text = process.env[variable] || String(standard);
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new EmbeddedServiceError(`${variable} must be a port from 0 to ${MAX_PORT}`);
}

async function startDatabase(reaper: Reaper, stops: Stop[]): Promise<string> {
  const port = portIn('SANDBOX_POSTGRES_PORT', 0);
  const postgres = await startEmbeddedPostgres({ folder: join(FOLDER, 'postgres'), port, reaper });
  stops.push(() => postgres.stop());
  say(
    `  PostgreSQL 18    embedded, on port ${postgres.port}; its data lasts as long as the sandbox`,
  );
  return postgres.url;
}

function environmentOf(
  databaseUrl: string,
  ports: { api: number; simulator: number },
): NodeJS.ProcessEnv {
  if (process.env.MALIPO_ENV === 'production') {
    throw new EmbeddedServiceError('MALIPO_ENV is production: the sandbox does not run there');
  }
  return {
    SWEEP_GRACE_MS: String(SWEEP_GRACE_MS),
    CHANNELS: SIMULATED_CHANNELS,
    ...process.env,
    MALIPO_ENV: 'sandbox',
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(ports.api),
    PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
    SIMULATOR_PORT: String(ports.simulator),
    SIMULATOR_URL: `http://127.0.0.1:${ports.simulator}`,
  };
}

async function prepareDatabase(database: Database, env: NodeJS.ProcessEnv): Promise<void> {
  const problem = await databaseProblem(database);
  if (problem) throw new EmbeddedServiceError(problem);
  await migrate(database);
  await refuseForeignDatabase(database);
  const backend = createQueueBackend(loadConfig(env));
  await backend.migrate();
  const queueProblem = await backend.problem();
  if (queueProblem) throw new EmbeddedServiceError(queueProblem);
  say(
    `  queues           in ${backend.name === 'redis' ? 'Redis' : 'PostgreSQL (set REDIS_URL to use Redis)'}`,
  );
}

interface Addresses {
  baseUrl: string;
  gatewayUrl: string;
  metricsUrls: string[];
  databaseUrl: string;
  redisUrl: string | undefined;
}

/** Everything that a script or a person needs to use the sandbox, passwords included: for this user only. */
function writeFile(addresses: Addresses, merchants: SandboxMerchant[]): void {
  const content = {
    base_url: addresses.baseUrl,
    gateway_url: addresses.gatewayUrl,
    metrics_urls: addresses.metricsUrls,
    database_url: addresses.databaseUrl,
    redis_url: addresses.redisUrl ?? null,
    merchants: merchants.map((merchant) => ({
      merchant_id: merchant.merchant_id,
      app_code: merchant.app_code,
      app_key: merchant.app_key,
      app_secret: merchant.app_secret,
      users: merchant.users,
    })),
  };
  writeFileSync(FILE, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(FILE, 0o600);
}

function whereToGoNext(baseUrl: string): string {
  return `
The sandbox runs until Ctrl-C.

  API          ${baseUrl}
  its manual   ${new URL('/docs', baseUrl)}
  credentials  .sandbox/sandbox.json
  logs         .sandbox/logs/

Try it: take app_key and app_secret of a merchant from .sandbox/sandbox.json, get a token with
POST /auth/app/token, and initiate a collection as above. The last three digits of the phone
decide what the simulated gateway does; docs/sandbox.md has the list.`;
}

function problemOf(error: unknown): string {
  const expected =
    error instanceof EmbeddedServiceError ||
    error instanceof BootError ||
    (error as Error).name === 'ConfigError';
  return expected ? (error as Error).message : String((error as Error).stack);
}

function say(line: string): void {
  console.log(line);
}
