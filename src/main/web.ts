import { setTimeout as sleep } from 'node:timers/promises';
import { createApp, startApiServer } from '../api/app.ts';
import { ANSWER_TIMEOUT_MS, createRateLimiter } from '../api/middleware/rate-limit.ts';
import { messageOf } from '../connections/database-errors.ts';
import { installationId } from '../connections/migrations.ts';
import { type Condition, createRedisProbe, openImpatientRedis } from '../connections/redis.ts';
import { bellLineOf } from '../jobs/bell-line.ts';
import { createMetrics } from '../metrics/process-metrics.ts';
import type { Config } from '../process/config.ts';
import { runMain, shutDownOnSignals } from '../process/lifecycle.ts';
import { startOperatorServer } from '../process/operator-server.ts';
import { recordCallbackBase } from '../service/callback-base.ts';
import type { Service } from '../service/service.ts';
import { MINUTE_MS } from '../time.ts';
import { boot } from './boot.ts';

/** So soon workers learn the address of another web process when the last one has ended. */
const ANNOUNCE_INTERVAL_MS = MINUTE_MS;

await runMain(async () => {
  const service = await boot('web');
  const { config, logger, database } = service;
  const registry = createMetrics(service, 'web');
  const stopping = new AbortController();
  const { signal } = stopping;
  const redis = config.redisUrl ? openImpatientRedis(config, ANSWER_TIMEOUT_MS, logger) : null;
  const rateLimiter = createRateLimiter(
    redis && { redis, installationId: await installationId(database) },
  );
  const line = await bellLineOf(service);
  service.bell.connect(line.ring);
  const app = createApp(service, { rateLimiter, isStopping: () => signal.aborted });
  const operators = await startOperatorServer({
    ...service,
    type: 'web',
    registry,
    stopping: signal,
    condition: webCondition(config),
  });
  const server = await startApiServer(config, app, signal);
  const announcing = setInterval(() => void announce(service), ANNOUNCE_INTERVAL_MS);
  shutDownOnSignals(logger, config.shutdownTimeoutMs, stopping, [
    { name: 'announcing', close: async () => clearInterval(announcing) },
    { name: 'drain', close: () => drain(config, signal) },
    { name: 'server', close: () => server.close() },
    operators,
    { name: 'redis', close: async () => redis?.disconnect() },
    { name: 'bell', close: line.close },
    { name: 'database', close: () => database.destroy() },
    ...service.traces,
  ]);
  await announce(service);
  logger.info('ready', { port: server.port });
}, 'web');

/** Requests are accepted without Redis too, so its problems are no reason to send them elsewhere. */
function webCondition(config: Config): (() => Promise<Condition>) | undefined {
  if (!config.redisUrl) return undefined;
  const probe = createRedisProbe(config);
  let known: Condition | undefined;
  return async () => {
    // A Redis that hangs must not make probes of a web process late.
    const asked = probe().then((condition) => {
      known = condition;
      return condition;
    });
    const { problem, warnings } = known ?? (await asked);
    return { problem: null, warnings: problem === null ? warnings : [problem, ...warnings] };
  };
}

/** Tells the workers where gateways reach this process, now that it listens there. */
async function announce({ config, database, logger }: Service): Promise<void> {
  const url = config.gatewayCallbackUrl ?? config.publicUrl;
  try {
    const isNew = await recordCallbackBase(database, url);
    if (isNew) logger.info('gateways call back here now', { url });
  } catch (error) {
    logger.warn('the address for callbacks is not recorded', { error: messageOf(error) });
  }
}

/**
 * Goes on serving for a while, so that load balancers see `/readyz` fail before the port closes.
 * After Ctrl-C it ends at once: a developer has no load balancer.
 */
async function drain({ drainDelayMs }: Config, { reason }: AbortSignal): Promise<void> {
  if (reason !== 'SIGINT') await sleep(drainDelayMs);
}
