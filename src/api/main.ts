import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { boot } from '../boot.ts';
import type { Config } from '../config.ts';
import { messageOf } from '../database.ts';
import { BootError, runMain, shutDownOnSignals } from '../lifecycle.ts';
import { startMetricsServer } from '../metrics-server.ts';
import { ANSWER_TIMEOUT_MS, createRateLimiter } from '../rate-limiter.ts';
import { openImpatientRedis } from '../redis.ts';
import { createApp } from './app.ts';

/** Longest that a request may take to arrive; it is answered in far less. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;

await runMain(async () => {
  const service = await boot('web');
  const { config, logger } = service;
  let stopping = false;
  const redis = config.redisUrl
    ? openImpatientRedis(config.redisUrl, ANSWER_TIMEOUT_MS, logger)
    : null;
  const rateLimiter = createRateLimiter(redis);
  const server = serverFor(
    service.config,
    createApp(service, { rateLimiter, isStopping: () => stopping }),
  );
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  const metrics = await startMetricsServer(service);
  await listen(server, config.port, config.host);
  shutDownOnSignals(logger, config.shutdownTimeoutMs, [
    {
      name: 'server',
      close: () => {
        stopping = true;
        return closeServer(server);
      },
    },
    ...(metrics ? [metrics] : []),
    { name: 'redis', close: async () => redis?.disconnect() },
    { name: 'database', close: () => service.database.destroy() },
  ]);
  const { port } = server.address() as AddressInfo;
  logger.info('ready', { port });
});

/** HTTPS with the configured certificate, or HTTP behind a proxy that ends it. */
function serverFor({ tls }: Config, app: RequestListener): Server {
  if (!tls) return createServer(app);
  try {
    return createHttpsServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, app);
  } catch (error) {
    throw new BootError(`TLS_CERT or TLS_KEY cannot be used: ${messageOf(error)}`);
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, port, host)));
    server.listen(port, host, resolve);
  });
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): BootError {
  if (error.code === 'EADDRINUSE') {
    return new BootError(`Port ${port} is taken: set PORT to another one, or 0 for any free one`);
  }
  return new BootError(`Cannot listen on ${host}:${port}: ${error.message}`);
}

/** Answers what is under way, takes nothing new, and drops connections that idle. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
