import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Database } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { createReadiness } from '../connections/readiness.ts';
import type { Config } from './config.ts';
import { BootError, type Closable } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** Processes on one machine have one setting: each takes the next port that is free. */
const PORT_TRIES = 50;
const MAX_PORT = 65_535;

/** Whether the process does its work, and all that lets a person see why. */
export interface Health {
  isHealthy: boolean;
  details?: Record<string, unknown>;
}

export interface Operated {
  config: Pick<Config, 'metricsPort' | 'metricsHost'>;
  database: Database;
  logger: Logger;
  registry: Registry;
  stopping: AbortSignal;
  /** Of a process that answers, nothing more is known to be wrong unless this says so. */
  health?: () => Health;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

/**
 * Serves operators, never on the port that merchants reach: `/healthz`, is this process
 * doing its work; `/readyz`, may it get work; `/metrics`.
 * @throws BootError when no port can be had
 */
export async function startOperatorServer(
  operated: Operated,
): Promise<Closable & { port: number }> {
  const { config, database, logger, stopping } = operated;
  const problem = createReadiness(database);
  const routes: Readonly<Record<string, () => Answer | Promise<Answer>>> = {
    '/healthz': () => healthOf(operated),
    '/readyz': async () => readinessOf(stopping.aborted ? 'stopping' : await problem()),
    '/metrics': () => metricsOf(operated),
  };
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const route = isRead && Object.hasOwn(routes, path) ? routes[path] : undefined;
    const { status, type, body } = (await route?.()) ?? json(404, { detail: 'Not found' });
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  const port = await listen(server, config.metricsPort, config.metricsHost);
  logger.info('operator server', { host: config.metricsHost, port });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { name: 'operator server', close, port };
}

function healthOf({ health }: Operated): Answer {
  const { isHealthy, details } = health?.() ?? { isHealthy: true };
  const status = isHealthy ? 'ok' : 'unhealthy';
  return json(isHealthy ? 200 : 503, { status, ...details });
}

function readinessOf(reason: string | null): Answer {
  return reason === null
    ? json(200, { status: 'ready' })
    : json(503, { status: 'not ready', reason });
}

async function metricsOf({ registry, logger }: Operated): Promise<Answer> {
  try {
    return { status: 200, type: registry.contentType, body: await registry.metrics() };
  } catch (error) {
    logger.warn('metrics failed', { error: messageOf(error) });
    return json(503, { detail: 'The metrics cannot be read' });
  }
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(body)}\n` };
}

async function listen(server: Server, first: number, host: string): Promise<number> {
  const last = first === 0 ? 0 : Math.min(first + PORT_TRIES - 1, MAX_PORT);
  for (let port = first; port <= last; port += 1) {
    const error = await tryToListen(server, port, host);
    if (!error) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE') {
      throw new BootError(`METRICS_PORT cannot be used: ${error.message}`);
    }
  }
  throw new BootError(`METRICS_PORT: the ports from ${first} to ${last} are taken`);
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
