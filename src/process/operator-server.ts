import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Database } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { createReadiness } from '../connections/readiness.ts';
import type { Condition } from '../connections/redis.ts';
import type { Config } from './config.ts';
import { BootError, type Closable } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** The port of one process of each type, so that a restart gives no process the port of another type. */
const USUAL_PORTS: Readonly<Record<string, number>> = {
  web: 9464,
  console: 9465,
  dispatcher: 9466,
  submission: 9467,
  settlement: 9468,
  refunds: 9469,
  webhooks: 9470,
  all: 9471,
};
/** More processes of a type take the first free port from here. */
const FURTHER_PORTS_FROM = 9472;
const PORT_TRIES = 50;
const MAX_PORT = 65_535;

export interface Health {
  isHealthy: boolean;
  details?: Record<string, unknown>;
}

export interface Operated {
  /** The type of the process, or its types, as its log lines have it. */
  type: string;
  config: Pick<Config, 'metricsPort' | 'metricsHost'>;
  database: Database;
  logger: Logger;
  registry: Registry;
  stopping: AbortSignal;
  /** Without it, a process that answers is healthy. */
  health?: () => Health;
  /** Checks the needs of this process besides the database. A problem makes it not ready. */
  condition?: () => Promise<Condition>;
}

/** A body that is an object is sent as JSON. */
type Answer = [status: number, body: object | string];

const FINE: Condition = { problem: null, warnings: [] };
const NOT_FOUND: Answer = [404, { detail: 'Not found' }];

/**
 * Serves operators, on a port that merchants do not reach: `/healthz` (does the process do
 * its work), `/readyz` (may it get work) and `/metrics`.
 * @throws BootError when no port is free
 */
export async function startOperatorServer(operated: Operated) {
  const { config, registry } = operated;
  const problem = createReadiness(operated.database);
  const server = createServer(async ({ method, url }, response) => {
    const isRead = method === 'GET' || method === 'HEAD';
    const [status, body] = isRead ? await answer(operated, problem, url!) : NOT_FOUND;
    const isText = typeof body === 'string';
    const type = isText ? registry.contentType : 'application/json';
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(isText ? body : `${JSON.stringify(body)}\n`);
  });
  const port = await listen(server, portsFor(operated), config.metricsHost);
  operated.logger.info('operator server', { host: config.metricsHost, port });
  const close: Closable['close'] = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { name: 'operator server', close, port };
}

async function answer(
  { logger, registry, stopping, health, condition }: Operated,
  databaseProblem: () => Promise<string | null>,
  url: string,
): Promise<Answer> {
  switch (url.split('?')[0]) {
    case '/healthz': {
      const { isHealthy, details } = health?.() ?? { isHealthy: true };
      return [isHealthy ? 200 : 503, { status: isHealthy ? 'ok' : 'unhealthy', ...details }];
    }
    case '/readyz': {
      if (stopping.aborted) return [503, { status: 'not ready', reason: 'stopping' }];
      const [fault, own = FINE] = await Promise.all([databaseProblem(), condition?.()]);
      const reason = fault ?? own.problem;
      const warned = own.warnings.length > 0 ? { warnings: own.warnings } : {};
      if (reason === null) return [200, { status: 'ready', ...warned }];
      return [503, { status: 'not ready', reason, ...warned }];
    }
    case '/metrics':
      try {
        return [200, await registry.metrics()];
      } catch (error) {
        logger.warn('metrics failed', { error: messageOf(error) });
        return [503, { detail: 'The metrics cannot be read' }];
      }
    default:
      return NOT_FOUND;
  }
}

/** Returns the ports to try, in their order. Processes of a machine that share a setting each take the next one. */
function portsFor({ type, config: { metricsPort: first } }: Operated): number[] {
  if (first === 0) return [0];
  const from = first ?? FURTHER_PORTS_FROM;
  const next = Array.from({ length: PORT_TRIES }, (_, at) => from + at);
  const usual = USUAL_PORTS[type];
  const ports = first === undefined && usual !== undefined ? [usual, ...next] : next;
  return ports.filter((port) => port <= MAX_PORT);
}

async function listen(server: Server, ports: number[], host: string): Promise<number> {
  for (const port of ports) {
    try {
      // A failure to listen rejects this.
      await once(server.listen(port, host), 'listening');
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE') throw new BootError(`METRICS_PORT cannot be used: ${message}`);
    }
  }
  throw new BootError(`METRICS_PORT: the ports ${ports[0]} to ${ports.at(-1)} are taken`);
}
