import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startEmbeddedPostgres } from '../../scripts/sandbox/embedded/postgres.ts';
import { findRedisServer, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { ROOT_FOLDER } from '../../scripts/sandbox/programs.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import {
  type StackType,
  startProcess,
  startStack,
  USUAL_TYPES,
} from '../../scripts/sandbox/stack.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/service/service.ts';
import { environment } from './environment.ts';
import { startFakeMerchant } from './fake-merchant.ts';
import { makeFolder } from './make-folder.ts';
import { PROGRAMS_FROM } from './programs.ts';
import { stackEnvironment } from './stack-environment.ts';
import { createTestMerchant } from './test-merchant.ts';

const WALLET_CENTS = 100_000_000;
const SERVICE_TYPES = USUAL_TYPES.filter((type) => type !== 'simulator');

export type DrillWorld = Awaited<ReturnType<typeof startDrillWorld>>;

/**
 * The whole service as processes, over a database that can be backed up and put back while
 * the gateway's simulator goes on. Its queues are in Redis where there is one: they live on
 * when the database is put back, which is the harder case.
 */
export async function startDrillWorld(simulatorTimes: NodeJS.ProcessEnv) {
  const { reaper } = environment;
  const logFolder = makeFolder('restore');
  const postgres = await startEmbeddedPostgres({ folder: join(logFolder, 'postgres'), reaper });
  const redis = findRedisServer() ? await startEmbeddedRedis({ reaper }) : undefined;
  const urlOf = (name: string) => postgres.url.replace(/postgres$/, name);
  await onServer(postgres.url, 'CREATE DATABASE malipo');
  const env: NodeJS.ProcessEnv = {
    ...(await stackEnvironment(urlOf('malipo'), redis?.url)),
    MALIPO_ACTOR: 'operator',
    ...simulatorTimes,
  };
  const options = { env, logFolder, reaper, from: PROGRAMS_FROM } as const;
  const database = openDatabase(urlOf('malipo'), 4, 'drill');
  await migrate(database);
  await createQueueBackend({ databaseUrl: urlOf('malipo') }).migrate();
  const receiver = await startFakeMerchant();
  const merchant = await createTestMerchant({ database, config: loadConfig(env) });
  await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'drill');
  const simulator = await startProcess('simulator', options);
  let stack = new Map<StackType, ServiceProcess>();
  console.log(`      logs: ${logFolder}`);

  const world = {
    database,
    merchant,
    receiver,
    /** Processes that start from now on, and commands, have these settings too. */
    set: (settings: NodeJS.ProcessEnv) => Object.assign(env, settings),
    simulatorUrl: env.SIMULATOR_URL,
    baseUrl: `${env.PUBLIC_URL}/api/v1`,
    async start() {
      stack = await startStack(options, SERVICE_TYPES);
    },
    kill: (type: StackType) => stack.get(type)!.kill(),
    /** Every process of the service dies at once; the gateway goes on. */
    async crash() {
      await Promise.all([...stack.values()].map((child) => child.kill()));
    },
    /** Nobody may be connected meanwhile: the server copies it as it is at this moment. */
    backUp: () => copyDatabase(postgres.url, 'malipo', 'backup'),
    async putBack() {
      await onServer(postgres.url, 'DROP DATABASE malipo WITH (FORCE)');
      await copyDatabase(postgres.url, 'backup', 'malipo');
    },
    run: (commands: string) => runShell(commands, env),
    async close() {
      await world.crash();
      await simulator.stop();
      await redis?.stop();
      await receiver.close();
      await database.destroy();
      await postgres.stop();
    },
  };
  await world.start();
  return world;
}

async function copyDatabase(serverUrl: string, from: string, to: string): Promise<void> {
  await onServer(
    serverUrl,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`,
  );
  await onServer(serverUrl, `CREATE DATABASE ${to} TEMPLATE ${from}`);
}

async function onServer(url: string, statement: string): Promise<void> {
  const server: Database = openDatabase(url, 1, 'drill');
  try {
    await rows(server, statement);
  } finally {
    await server.destroy();
  }
}

/** Runs commands as an operator's shell does. @throws with what they said when one fails. */
async function runShell(commands: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('bash', ['-euc', commands], { cwd: ROOT_FOLDER, env, stdio: 'pipe' });
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, error, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (status !== 0) throw new Error(`${commands}ended with ${status}: ${out}${error}`);
  return out;
}
