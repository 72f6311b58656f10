import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import winston from 'winston';
import { startSimulator } from '../../scripts/simulator/server.ts';
import { createApp } from '../../src/api/app.ts';
import { ANSWER_TIMEOUT_MS, createRateLimiter } from '../../src/api/middleware/rate-limit.ts';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { installationId } from '../../src/connections/migrations.ts';
import { openImpatientRedis } from '../../src/connections/redis.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import {
  connectWorkers,
  PROCESS_TYPES,
  type ProcessType,
  processName,
  startWorkers,
} from '../../src/workers/start-workers.ts';
import { darajaEnvironment, startDaraja } from './daraja-under-test.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type BackendName, environment } from './environment.ts';
import { eventually } from './eventually.ts';

export interface TestService extends Service {
  /** Of the API, without its version. */
  origin: string;
  baseUrl: string;
  simulatorUrl: string;
  /** Of Daraja's simulator, if channels go there. */
  darajaUrl: string | null;
  /** For what only the owner of the tables may. */
  owner: Database;
  close(): Promise<void>;
}

/** Quick enough for tests, and in the same order to each other as in production. */
const QUICK = {
  POLL_FIRST_MS: '100',
  SIMULATOR_SETTLING_WINDOW_MS: '200',
  GATEWAY_TIMEOUT_MS: '2000',
  SWEEP_INTERVAL_MS: '200',
  SWEEP_GRACE_MS: '1000',
  WEBHOOK_TIMEOUT_MS: '2000',
  // Tests are in more of a hurry than merchants; what limits is tested by itself.
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_BURST: '100000',
};
const SIMULATED_MS = {
  delayMs: 50,
  /** Long enough for the failure before it to be known and refunded, even on a busy machine. */
  lateSuccessMs: 4_000,
  slowSuccessMs: 1_500,
};

/**
 * The whole service in this process, over a database and simulator of its own: the API,
 * and the workers of these types on this queue backend.
 */
export async function startTestService(
  options: {
    backend?: BackendName;
    workers?: readonly ProcessType[];
    env?: Record<string, string>;
    /** Works on this one's database, as another process of the same service. */
    beside?: TestService;
    /** Sends M-PESA through Daraja, with these fields of its configuration. */
    daraja?: object;
    /** Limits requests through this Redis, as the web process does. */
    limiterRedisUrl?: string;
  } = {},
): Promise<TestService> {
  const { backend: backendName = 'postgres', workers = PROCESS_TYPES, env = {} } = options;
  const testDatabase = options.beside ? connectBeside(options.beside) : await createTestDatabase();
  const simulator = await startSimulator({
    port: 0,
    ...SIMULATED_MS,
    log: () => {},
  });
  const daraja = options.daraja
    ? await startDaraja({ ...SIMULATED_MS, lateSuccessMs: 7 * SIMULATED_MS.lateSuccessMs })
    : null;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({
    ...QUICK,
    DATABASE_URL: testDatabase.url,
    PUBLIC_URL: origin,
    SIMULATOR_URL: simulator.url,
    ...(daraja && darajaEnvironment(daraja.url, options.daraja)),
    ...(backendName === 'redis' ? { REDIS_URL: redisDatabaseUrl() } : {}),
    ...env,
  });
  const service = createService(config, silentLogger(), testDatabase.database);
  const redis = options.limiterRedisUrl
    ? openImpatientRedis(options.limiterRedisUrl, ANSWER_TIMEOUT_MS, service.logger)
    : null;
  if (redis) await eventually('Redis to be ready', async () => redis.status === 'ready');
  const shared = redis && { redis, installationId: await installationId(service.database) };
  server.on('request', createApp(service, { rateLimiter: createRateLimiter(shared) }));
  const connections = await connectWorkers(service, processName(workers));
  const parts = startWorkers(service, connections, workers);
  return {
    ...service,
    origin,
    baseUrl: `${origin}/api/v1`,
    simulatorUrl: simulator.url,
    darajaUrl: daraja?.url ?? null,
    owner: testDatabase.owner,
    close: async () => {
      await Promise.all(parts.map((part) => part.close()));
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      redis?.disconnect();
      await simulator.close();
      await daraja?.close();
      await testDatabase.drop();
    },
  };
}

function connectBeside({
  config,
  owner,
}: TestService): Pick<TestDatabase, 'url' | 'database' | 'owner' | 'drop'> {
  const url = config.databaseUrl;
  const database = openDatabase(url, 5, 'malipo-test-beside');
  return { url, database, owner, drop: () => database.destroy() };
}

const REDIS_DATABASES = 15;
let nextRedisDatabase = 0;

/** Another one each time, so that services of different tests do not take each other's jobs. */
function redisDatabaseUrl(): string {
  nextRedisDatabase = (nextRedisDatabase % REDIS_DATABASES) + 1;
  return `${environment.redisUrl}/${nextRedisDatabase}`;
}

function silentLogger() {
  return winston.createLogger({
    silent: process.env.TEST_LOGS !== '1',
    transports: [new winston.transports.Console()],
  });
}
