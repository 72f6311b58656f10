import { join, relative } from 'node:path';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { PASSWORD_COST } from '../../src/domain/credentials/passwords.ts';
import { daraja } from '../../src/gateways/daraja/driver.ts';
import { settingsOf } from '../../src/gateways/driver.ts';
import { simulator } from '../../src/gateways/simulator/driver.ts';
import type { Config } from '../../src/process/config.ts';
import { loadConfig } from '../../src/service/service.ts';
import { darajaSettings } from '../daraja-simulator/service-settings.ts';
import { makeDatabase, prepareDatabase } from './database.ts';
import { startEmbeddedPostgres } from './embedded/postgres.ts';
import { EmbeddedServiceError } from './processes/embedded-service-error.ts';
import { findFreePort, isPortTaken } from './processes/port.ts';
import { type Reaper, startReaper } from './processes/reaper.ts';
import { ROOT_FOLDER } from './programs.ts';
import { type RunFolder, SANDBOX_FOLDER } from './run-folder.ts';
import { type SandboxMerchant, seedMerchant, seedMerchants } from './seed.ts';
import { type SandboxTeam, seedTeam } from './seed-staff.ts';
import type { ServiceProcess } from './service-process.ts';
import { STACK_TYPES, startStack } from './stack.ts';

const DEFAULT_API_PORT = 8080;
const DEFAULT_CONSOLE_PORT = 8070;
const DEFAULT_SIMULATOR_PORT = 8090;
const DEFAULT_DARAJA_PORT = 8091;
const MAX_PORT = 65_535;
const SWEEP_GRACE_MS = '5000';
const CHEAP_N = 2 ** 12;
/** Mobile money, and the banks KCB, Co-operative and Equity. */
const CHANNEL_CODES = [63902, 63903, 63907, 1, 11, 68];
const M_PESA = 63902;

/** Its payments go wrong. */
const TROUBLED = ['Shida Traders', '+254711000003'] as const;

/** The simulator that serves M-PESA: the general one, or the one of Safaricom's Daraja. */
export type MpesaGateway = 'simulator' | 'daraja';

function channelsOf(mpesa: MpesaGateway): string {
  return CHANNEL_CODES.map((code) => `${code}=${code === M_PESA ? mpesa : 'simulator'}`).join(',');
}

export interface SandboxOptions {
  run: RunFolder;
  /** Receives what ends each part again, in the order of starting. */
  stops: (() => Promise<unknown>)[];
  /** Starts a process again when its source changes, and shows the logs as they come. */
  reload: boolean;
  mpesa: MpesaGateway;
  say(line: string): void;
}

export interface Sandbox {
  baseUrl: string;
  consoleUrl: string;
  channels: Config['channels'];
  database: Database;
  /** As the owner of the tables, for what the service may not do. */
  owner: Database;
  merchant: SandboxMerchant;
  /** The merchant that support practises on. */
  troubled: SandboxMerchant;
  team: SandboxTeam;
  /** Where its credentials and logs are. */
  folder: string;
  /** Resolves with what happened when a process ends unasked. */
  crashed: Promise<string>;
}

/**
 * Starts everything that the service consists of.
 * @throws EmbeddedServiceError, ConfigError when something is missing or taken
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { run, stops, reload, mpesa, say } = options;
  const reaper = await startReaper();
  stops.push(() => reaper.close());
  const { env, ownerUrl } = await environment(reaper, options);
  const config = loadConfig(env);
  const queues = await prepareDatabase(config, ownerUrl);
  const database = openDatabase(config, 2, 'malipo-sandbox');
  stops.push(() => database.destroy());
  const owner = openDatabase({ ...config, databaseUrl: ownerUrl }, 1, 'malipo-sandbox');
  stops.push(() => owner.destroy());
  say(`  queues           in ${queues}`);
  const paying = STACK_TYPES.filter((type) => type !== 'daraja' || mpesa === 'daraja');
  const types = [...paying, 'console'] as const;
  const from = reload ? 'source' : { bundledIn: run.programs };
  // Meanwhile the merchants and the staff come in.
  const starting = startStack({ env, logFolder: run.logs, reaper, reload, from }, types);
  starting.catch(() => {});
  stops.push(() => starting.then((all) => Promise.all([...all.values()].map((one) => one.stop()))));
  // The file of the sandbox has these passwords in clear, so a hash that takes long protects nothing.
  PASSWORD_COST.N = CHEAP_N;
  const merchants = await seedMerchants(database, config.secretsKeys);
  const troubled = await seedMerchant(database, config.secretsKeys, ...TROUBLED);
  say('  three merchants  each with an app, users and a filled payout wallet');
  const team = await seedTeam(database, config.secretsKeys);
  say('  four people      of staff, who may log in to the support console');
  const stack = await starting;
  const processes = [...stack.values()];
  say(`  processes        ${[...stack.keys()].join(', ')}`);
  const baseUrl = `${config.publicUrl}/api/v1`;
  run.publish(contentOf(config, { baseUrl, processes, merchants, troubled, team }));
  const crashed = Promise.race(processes.map((child) => endOf(child, run)));
  const folder = relative(ROOT_FOLDER, run.path);
  const { consoleUrl, channels } = config;
  const people = { merchant: merchants[0]!, troubled, team };
  return { baseUrl, consoleUrl, channels, database, owner, folder, ...people, crashed };
}

/**
 * Returns the environment of the service's processes, and the address of the owner of the tables,
 * which they need not know. Starts PostgreSQL unless DATABASE_URL is set.
 */
async function environment(
  reaper: Reaper,
  { stops, mpesa, say }: SandboxOptions,
): Promise<{ env: NodeJS.ProcessEnv; ownerUrl: string }> {
  if (process.env.MALIPO_ENV === 'production') {
    throw new EmbeddedServiceError('MALIPO_ENV is production: the sandbox does not run there');
  }
  const apiPort = await freePort('PORT', DEFAULT_API_PORT);
  const consolePort = await freePort('CONSOLE_PORT', DEFAULT_CONSOLE_PORT);
  const simulatorPort = await freePort('SIMULATOR_PORT', DEFAULT_SIMULATOR_PORT);
  let databaseUrl = process.env.DATABASE_URL;
  let ownerUrl = process.env.DATABASE_MIGRATION_URL || databaseUrl;
  if (!databaseUrl || !ownerUrl) {
    const port = portIn('SANDBOX_POSTGRES_PORT', 0);
    const folder = join(SANDBOX_FOLDER, 'postgres');
    const postgres = await startEmbeddedPostgres({ folder, port, reaper });
    stops.push(() => postgres.stop());
    [databaseUrl, ownerUrl] = await makeDatabase(postgres.url);
    say(
      `  PostgreSQL 18    embedded, on port ${postgres.port}; its data lasts as long as the sandbox`,
    );
  }
  const env = {
    SWEEP_GRACE_MS,
    CHANNELS: channelsOf(mpesa),
    // The merchants' receivers are on this machine.
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...process.env,
    // Never an account with the real Daraja that the environment may name.
    ...(mpesa === 'daraja' ? await darajaEnvironment() : { DARAJA: '' }),
    MALIPO_ENV: 'sandbox',
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
    CONSOLE_HOST: '127.0.0.1',
    CONSOLE_PORT: String(consolePort),
    CONSOLE_URL: `http://127.0.0.1:${consolePort}`,
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
  };
  return { env, ownerUrl };
}

async function darajaEnvironment(): Promise<NodeJS.ProcessEnv> {
  const port = await freePort('DARAJA_SIMULATOR_PORT', DEFAULT_DARAJA_PORT);
  const settings = darajaSettings(`http://127.0.0.1:${port}`);
  return { ...settings, DARAJA_SIMULATOR_PORT: String(port) };
}

async function freePort(variable: string, standard: number): Promise<number> {
  const port = portIn(variable, standard);
  if (port === 0) return findFreePort();
  if (!(await isPortTaken(port))) return port;
  throw new EmbeddedServiceError(
    `Port ${port} is taken: set ${variable} to another one, or 0 for any free one`,
  );
}

function portIn(variable: string, standard: number): number {
  const text = process.env[variable] || String(standard);
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new EmbeddedServiceError(`${variable} must be a port from 0 to ${MAX_PORT}`);
}

interface Seeded {
  baseUrl: string;
  processes: ServiceProcess[];
  merchants: SandboxMerchant[];
  troubled: SandboxMerchant;
  team: SandboxTeam;
}

/** All that a script or a person needs, passwords included. */
function contentOf(config: Config, seeded: Seeded) {
  const { baseUrl, processes, merchants, troubled, team } = seeded;
  return {
    base_url: baseUrl,
    gateway_url:
      settingsOf(daraja, config).DARAJA?.baseUrl ?? settingsOf(simulator, config).SIMULATOR_URL,
    console_url: config.consoleUrl,
    metrics_urls: processes.flatMap(({ operatorUrl }) =>
      operatorUrl ? [`${operatorUrl}/metrics`] : [],
    ),
    database_url: config.databaseUrl,
    redis_url: config.redisUrl ?? null,
    staff: team.staff,
    more_staff: Object.values(team.colleagues),
    merchants,
    practice_merchant: troubled,
  };
}

async function endOf({ name, exited }: ServiceProcess, { logs }: RunFolder): Promise<string> {
  const log = join(logs, `${name}.log`);
  return `The process ${name} ended (${await exited}): see ${log}`;
}
