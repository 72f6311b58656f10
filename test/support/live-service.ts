import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { type StackType, startProcess } from '../../scripts/sandbox/stack.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import type { Database } from '../../src/connections/database.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type BackendName, environment } from './environment.ts';
import { type FakeMerchant, startFakeMerchant } from './fake-merchant.ts';
import { makeFolder } from './make-folder.ts';
import { PROGRAMS_FROM } from './programs.ts';
import { createTestMerchant, type TestMerchant } from './test-merchant.ts';

const WALLET_CENTS = 100_000_000;
const REDIS_DATABASE = 14;

const SETTINGS = {
  MALIPO_ENV: 'sandbox',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  POLL_FIRST_MS: '500',
  // One merchant sends everything, faster than a merchant may.
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_BURST: '100000',
};

export interface LiveService {
  env: NodeJS.ProcessEnv;
  logFolder: string;
  database: Database;
  receiver: FakeMerchant;
  merchant: TestMerchant;
  balancer: Balancer;
  /** Starts one process of a type under a name; a web process on a port of its own. */
  start(type: StackType | 'all', name?: string, env?: NodeJS.ProcessEnv): Promise<ServiceProcess>;
  /** Has a process ended with the rest, however the test ends. */
  keep(child: ServiceProcess): ServiceProcess;
  close(): Promise<void>;
}

/**
 * The service as processes of their own, behind a load balancer; nothing runs yet but the simulator.
 * @param on a database of the test's own
 */
export async function startLiveService(
  backend: BackendName,
  settings: NodeJS.ProcessEnv = {},
  on?: Pick<TestDatabase, 'url' | 'database' | 'drop'>,
): Promise<LiveService> {
  const { reaper } = environment;
  const logFolder = makeFolder('live');
  const testDatabase = on ?? (await createTestDatabase());
  const balancer = await startBalancer();
  const simulatorPort = String(await findFreePort());
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    ...SETTINGS,
    DATABASE_URL: testDatabase.url,
    REDIS_URL: backend === 'redis' ? `${environment.redisUrl}/${REDIS_DATABASE}` : '',
    PUBLIC_URL: balancer.origin,
    SIMULATOR_PORT: simulatorPort,
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
    ...settings,
  };
  const receiver = await startFakeMerchant();
  const config = loadConfig(env);
  const { database } = testDatabase;
  const merchant = await createTestMerchant({ database, config });
  await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'live');
  const children: ServiceProcess[] = [];
  const keep = (child: ServiceProcess) => {
    children.push(child);
    return child;
  };
  const options = { logFolder, reaper, from: PROGRAMS_FROM } as const;
  const start = async (type: StackType | 'all', name: string = type, own: NodeJS.ProcessEnv = {}) =>
    keep(await startProcess(type, { ...options, env: { ...env, ...own } }, name));
  await start('simulator');
  return {
    ...{ env, logFolder, database, receiver, merchant, balancer, start, keep },
    close: async () => {
      await Promise.all(children.map((child) => child.stop()));
      await balancer.close();
      await receiver.close();
      await testDatabase.drop();
    },
  };
}

/** Starts a web process behind the balancer, at a port that it may have again after a restart. */
export async function startWeb(
  service: LiveService,
  name: string,
): Promise<() => Promise<ServiceProcess>> {
  const port = String(await findFreePort());
  service.balancer.add(`http://127.0.0.1:${port}`);
  return () => service.start('web', name, { PORT: port });
}
