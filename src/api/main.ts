import { setTimeout as sleep } from 'node:timers/promises';
import { openImpatientRedis } from '../connections/redis.ts';
import { createMetrics } from '../metrics/process-metrics.ts';
import { boot } from '../process/boot.ts';
import type { Config } from '../process/config.ts';
import { runMain, shutDownOnSignals } from '../process/lifecycle.ts';
import { startOperatorServer } from '../process/operator-server.ts';
import { createApp } from './app.ts';
import { ANSWER_TIMEOUT_MS, createRateLimiter } from './rate-limiter.ts';
import { startApiServer } from './server.ts';

await runMain(async () => {
  const service = await boot('web');
  const { config, logger } = service;
  const registry = createMetrics(service, 'web');
  const stopping = new AbortController();
  const { signal } = stopping;
  const redis = config.redisUrl ? openImpatientRedis(config, ANSWER_TIMEOUT_MS, logger) : null;
  const rateLimiter = createRateLimiter(redis);
  const app = createApp(service, { rateLimiter, isStopping: () => signal.aborted });
  const operators = await startOperatorServer({ ...service, registry, stopping: signal });
  const server = await startApiServer(config, app, signal);
  shutDownOnSignals(logger, config.shutdownTimeoutMs, stopping, [
    { name: 'drain', close: () => drain(config, signal) },
    { name: 'server', close: () => server.close() },
    operators,
    { name: 'redis', close: async () => redis?.disconnect() },
    { name: 'database', close: () => service.database.destroy() },
  ]);
  logger.info('ready', { port: server.port });
});

/**
 * Goes on serving for a while, so that load balancers see `/readyz` fail before the port closes.
 * After Ctrl-C it ends at once: a developer has no load balancer.
 */
async function drain({ drainDelayMs }: Config, { reason }: AbortSignal): Promise<void> {
  if (reason !== 'SIGINT') await sleep(drainDelayMs);
}
