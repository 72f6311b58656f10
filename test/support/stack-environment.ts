import { findFreePort } from '../../scripts/sandbox/processes/port.ts';

export const SETTLING_WINDOW_MS = 500;

/** The intervals of production, shortened; their order to each other is the same. */
const QUICK = {
  MALIPO_ENV: 'sandbox',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  LOG_LEVEL: 'info',
  POLL_FIRST_MS: '500',
  GATEWAY_TIMEOUT_MS: '2000',
  REVERSAL_WAIT_MS: '1000',
  SIMULATOR_SETTLING_WINDOW_MS: String(SETTLING_WINDOW_MS),
  SIMULATOR_DELAY_MS: '300',
  SIMULATOR_SLOW_SUCCESS_MS: '5000',
  JOB_LOCK_MS: '3000',
  SWEEP_INTERVAL_MS: '500',
  SWEEP_GRACE_MS: '3000',
  // One merchant sends everything, faster than a merchant may.
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_BURST: '100000',
};

/** What the processes of a whole service are started with, the simulator's too: quick, on free ports. */
export async function stackEnvironment(
  databaseUrl: string,
  redisUrl?: string,
): Promise<NodeJS.ProcessEnv> {
  const [apiPort, simulatorPort] = [await findFreePort(), await findFreePort()];
  return {
    PATH: process.env.PATH,
    ...QUICK,
    DATABASE_URL: databaseUrl,
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
  };
}
