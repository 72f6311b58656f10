import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../scripts/sandbox/embedded/postgres.ts';
import type { StackType } from '../../scripts/sandbox/stack.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/process/config.ts';
import { request } from './api-client.ts';
import type { Shop } from './chaos-shop.ts';
import { type Crew, startCrew } from './crew.ts';
import { environment } from './environment.ts';
import { type FakeMerchant, startFakeMerchant } from './fake-merchant.ts';
import { makeFolder } from './make-folder.ts';
import { stackEnvironment } from './stack-environment.ts';
import { createTestMerchant } from './test-merchant.ts';

const WALLET_CENTS = 100_000_000;
const POOL_MAX = 4;

/** A whole service of its own, made to be broken: stores, processes, a merchant, a gateway. */
export interface ChaosWorld {
  database: Database;
  postgres: EmbeddedPostgres;
  crew: Crew;
  shop: Shop;
  receiver: FakeMerchant;
  simulatorUrl: string;
  stop(): Promise<void>;
}

/** Starts it, with its queues in Redis when there is a `redisUrl`. */
export async function startChaosWorld(options: {
  /** The processes by name. */
  members: Readonly<Record<string, StackType>>;
  redisUrl?: string;
  env?: NodeJS.ProcessEnv;
}): Promise<ChaosWorld> {
  const { reaper } = environment;
  const logFolder = makeFolder('chaos');
  const postgres = await startEmbeddedPostgres({ folder: join(logFolder, 'postgres'), reaper });
  const env = { ...(await stackEnvironment(postgres.url, options.redisUrl)), ...options.env };
  const database = openDatabase(postgres.url, POOL_MAX, 'malipo-chaos');
  await migrate(database);
  await createQueueBackend({ databaseUrl: postgres.url }).migrate();
  const receiver = await startFakeMerchant();
  const merchant = await createTestMerchant({ database, config: loadConfig(env) });
  await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'chaos');
  const crew = await startCrew(options.members, { env, logFolder, reaper });
  console.log(`      logs: ${logFolder}`);
  return {
    ...{ database, postgres, crew, receiver, simulatorUrl: env.SIMULATOR_URL! },
    shop: { baseUrl: `${env.PUBLIC_URL}/api/v1`, merchant, callbackUrl: receiver.url },
    stop: async () => {
      await crew.stop();
      await receiver.close();
      await database.destroy();
      await postgres.stop();
    },
  };
}

/** Has the gateway take nothing and answer nobody for so long. */
export async function cutOffGateway({ simulatorUrl }: ChaosWorld, durationMs: number) {
  const fault = { mode: 'outage', rate: 1, for_ms: durationMs };
  await request('POST', `${simulatorUrl}/faults`, { body: fault });
}
