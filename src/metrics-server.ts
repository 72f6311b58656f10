import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import { type Database, messageOf } from './database.ts';
import { BootError, type Closable } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { createMetrics } from './metrics.ts';

/** Processes on one machine have one setting: each takes the next port that is free. */
const PORT_TRIES = 50;

/**
 * Serves `/metrics` of this process, never on the port that merchants reach.
 * @returns null when METRICS_PORT is not set.
 * @throws BootError when no port can be had
 */
export async function startMetricsServer(context: {
  config: Pick<Config, 'metricsPort' | 'metricsHost'>;
  database: Database;
  logger: Logger;
}): Promise<(Closable & { port: number }) | null> {
  const { config, database, logger } = context;
  if (config.metricsPort === undefined) return null;
  const registry = createMetrics(database);
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } catch (error) {
      logger.warn('metrics failed', { error: messageOf(error) });
      response.writeHead(503).end();
    }
  });
  const port = await listen(server, config.metricsPort, config.metricsHost);
  logger.info('metrics', { port });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { name: 'metrics', close, port };
}

async function listen(server: Server, first: number, host: string): Promise<number> {
  for (let port = first; port < first + PORT_TRIES; port += 1) {
    const error = await tryToListen(server, port, host);
    if (!error) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE') {
      throw new BootError(`METRICS_PORT cannot be used: ${error.message}`);
    }
  }
  throw new BootError(`METRICS_PORT: the ports from ${first} on are taken`);
}

function tryToListen(
  server: Server,
  port: number,
  host: string,
): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException) => resolve(error);
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve(null);
    });
  });
}
