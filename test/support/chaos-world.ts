import { join } from 'node:path';
import type { QuirkRates } from '../../scripts/daraja-simulator/quirks.ts';
import { darajaSettings } from '../../scripts/daraja-simulator/service-settings.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../scripts/sandbox/embedded/postgres.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { StackType } from '../../scripts/sandbox/stack.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/service/service.ts';
import { request } from './api-client.ts';
import { type ChaosGateway, gatewaysOf } from './chaos-gateways.ts';
import type { Shop } from './chaos-shop.ts';
import { type Crew, startCrew } from './crew.ts';
import { environment } from './environment.ts';
import { type FakeMerchant, startFakeMerchant } from './fake-merchant.ts';
import { makeFolder } from './make-folder.ts';
import { stackEnvironment } from './stack-environment.ts';
import { createTestMerchant } from './test-merchant.ts';

const WALLET_CENTS = 100_000_000;
const POOL_MAX = 4;
const MPESA = 63_902;

/** A whole service of its own, made to be broken: stores, processes, a merchant, a gateway. */
export interface ChaosWorld {
  database: Database;
  postgres: EmbeddedPostgres;
  crew: Crew;
  shop: Shop;
  receiver: FakeMerchant;
  /** The general simulator, and Daraja's where M-PESA goes there. */
  gateways: readonly ChaosGateway[];
  stop(): Promise<void>;
}

/** Starts it, with its queues in Redis when there is a `redisUrl`. */
export async function startChaosWorld(options: {
  /** The processes by name. */
  members: Readonly<Record<string, StackType>>;
  redisUrl?: string;
}): Promise<ChaosWorld> {
  const { reaper } = environment;
  const logFolder = makeFolder('chaos');
  const postgres = await startEmbeddedPostgres({ folder: join(logFolder, 'postgres'), reaper });
  const hasDaraja = Object.values(options.members).includes('daraja');
  const env = {
    ...(await stackEnvironment(postgres.url, options.redisUrl)),
    ...(hasDaraja ? await darajaEnvironment() : { CHANNELS: '63903=simulator' }),
  };
  const config = loadConfig(env);
  const database = openDatabase(postgres.url, POOL_MAX, 'malipo-chaos');
  await migrate(database);
  await createQueueBackend({ databaseUrl: postgres.url }).migrate();
  const receiver = await startFakeMerchant();
  const merchant = await createTestMerchant({ database, config });
  await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'chaos');
  const crew = await startCrew(options.members, { env, logFolder, reaper });
  console.log(`      logs: ${logFolder}`);
  return {
    ...{ database, postgres, crew, receiver, gateways: gatewaysOf(config, database) },
    shop: { baseUrl: `${env.PUBLIC_URL}/api/v1`, merchant, callbackUrl: receiver.url },
    stop: async () => {
      await crew.stop();
      await receiver.close();
      await database.destroy();
      await postgres.stop();
    },
  };
}

/** M-PESA goes to a Daraja simulator, everything else to the general one. */
async function darajaEnvironment(): Promise<NodeJS.ProcessEnv> {
  const port = String(await findFreePort());
  const settings = darajaSettings(`http://127.0.0.1:${port}`);
  return { ...settings, DARAJA_SIMULATOR_PORT: port, CHANNELS: '63902=daraja,63903=simulator' };
}

/** Has the gateways take nothing and answer nobody for so long. */
export async function cutOffGateways({ gateways }: ChaosWorld, durationMs: number) {
  const fault = { mode: 'outage', rate: 1, for_ms: durationMs };
  await Promise.all(gateways.map(({ url }) => request('POST', `${url}/faults`, { body: fault })));
}

/** Sets how often each quirk of Daraja comes. Those that are not named come no more. */
export async function setQuirks({ gateways }: ChaosWorld, quirks: QuirkRates): Promise<void> {
  const daraja = gateways.find(({ channel }) => channel === MPESA)!;
  await request('POST', `${daraja.url}/faults`, { body: { quirks } });
}
