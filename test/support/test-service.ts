import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import winston from 'winston';
import { createApp } from '../../src/api/app.ts';
import { createService, type Service } from '../../src/boot.ts';
import { loadConfig } from '../../src/config.ts';
import { startSimulator } from '../../src/gateways/simulator/server/server.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { PROCESS_TYPES, type ProcessType, startWorkers } from '../../src/workers/start-workers.ts';
import { createTestDatabase } from './database.ts';
import { type BackendName, environment } from './environment.ts';

export interface TestService extends Service {
  /** Of the API, without its version. */
  origin: string;
  baseUrl: string;
  simulatorUrl: string;
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
};
const SIMULATOR_DELAY_MS = 50;
/** Long enough for the failure before it to be known, even on a busy machine. */
const LATE_SUCCESS_MS = 2_000;
const SLOW_SUCCESS_MS = 1_500;

/**
 * The whole service in this process, over a database and simulator of its own: the API,
 * and the workers of these types on this queue backend.
 */
export async function startTestService(
  options: {
    backend?: BackendName;
    workers?: readonly ProcessType[];
    env?: Record<string, string>;
  } = {},
): Promise<TestService> {
  const { backend: backendName = 'postgres', workers = PROCESS_TYPES, env = {} } = options;
  const testDatabase = await createTestDatabase();
  const simulator = await startSimulator({
    port: 0,
    delayMs: SIMULATOR_DELAY_MS,
    lateSuccessMs: LATE_SUCCESS_MS,
    slowSuccessMs: SLOW_SUCCESS_MS,
    log: () => {},
  });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({
    ...QUICK,
    DATABASE_URL: testDatabase.url,
    PUBLIC_URL: origin,
    SIMULATOR_URL: simulator.url,
    ...(backendName === 'redis' ? { REDIS_URL: redisDatabaseUrl() } : {}),
    ...env,
  });
  const service = createService(config, silentLogger(), testDatabase.database);
  server.on('request', createApp(service));
  const parts = startWorkers(service, createQueueBackend(config), workers);
  return {
    ...service,
    origin,
    baseUrl: `${origin}/api/v1`,
    simulatorUrl: simulator.url,
    close: async () => {
      await Promise.all(parts.map((part) => part.close()));
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await simulator.close();
      await testDatabase.drop();
    },
  };
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
