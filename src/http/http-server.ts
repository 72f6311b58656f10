import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import { messageOf } from '../connections/database-errors.ts';
import type { Config } from '../process/config.ts';
import { BootError } from '../process/lifecycle.ts';

/** The limits of one server for connections and requests. */
export const SERVER_LIMITS = {
  /** The longest time that a request may take to arrive. Answers take far less. */
  requestTimeout: 30_000,
  headersTimeout: 15_000,
  /** The interval at which Node looks for late requests. Its own default is 30 s. */
  connectionsCheckingInterval: 1_000,
  /** Longer than load balancers keep idle connections, so that they never use a closing one. */
  keepAliveTimeout: 65_000,
  /** Each costs some 20 kB and a file descriptor. A proxy needs some hundred. */
  maxConnections: 4_000,
};

/** Browsers and libraries of the last ten years speak these. All have forward secrecy. */
const TLS_LIMITS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ].join(':'),
} as const;

/** The wait for a request that was on its way when the port closed. */
const STRAGGLER_MS = 250;

/** Where a server listens, and the setting that names its port. */
export interface Listening extends Pick<Config, 'tls'> {
  host: string;
  port: number;
  setting: 'PORT' | 'CONSOLE_PORT';
}

export interface ServerOptions {
  limits?: typeof SERVER_LIMITS;
  /** Makes what answers requests that Node cannot read. Without it Node answers them. */
  unreadable?: (
    underWay: ReadonlySet<ServerResponse>,
  ) => (error: NodeJS.ErrnoException, socket: Duplex) => void;
}

const BAD_REQUEST = 400;

/** Of two hosts a proxy may have checked the other one. Node itself refuses a request without any. */
function hasOneHost({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name)).length < 2;
}

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/**
 * Serves the app. Once `stopping` is aborted every answer closes its connection, because a kept
 * connection would bring more requests to a process that wants to end.
 * @throws BootError when the port or the certificate cannot be used
 */
export async function startHttpServer(
  listening: Listening,
  app: RequestListener,
  stopping: AbortSignal,
  { limits = SERVER_LIMITS, unreadable }: ServerOptions = {},
) {
  const underWay = new Set<ServerResponse>();
  const server = serverFor(listening, limits, (request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    if (stopping.aborted) response.shouldKeepAlive = false;
    if (hasOneHost(request)) app(request, response);
    else response.writeHead(BAD_REQUEST, { connection: 'close' }).end();
  });
  stopping.addEventListener('abort', () => {
    for (const response of underWay) response.shouldKeepAlive = false;
  });
  if (unreadable) server.on('clientError', unreadable(underWay));
  server.maxConnections = limits.maxConnections;
  await listen(server, listening);
  return {
    port: (server.address() as AddressInfo).port,
    /** Takes no new connections, answers the requests under way, and drops idle connections. */
    close: () => closeServer(server, underWay),
  };
}

/** Creates an HTTPS server if there is a certificate, else an HTTP server for a proxy with TLS. */
function serverFor({ tls }: Listening, limits: typeof SERVER_LIMITS, app: RequestListener): Server {
  if (!tls) return createServer(limits, app);
  try {
    const certificate = { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
    return createHttpsServer({ ...limits, ...TLS_LIMITS, ...certificate }, app);
  } catch (error) {
    throw new BootError(`TLS_CERT or TLS_KEY cannot be used: ${messageOf(error)}`);
  }
}

function listen(server: Server, { host, port, setting }: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const isTaken = code === 'EADDRINUSE';
      const taken = `Port ${port} is taken: set ${setting} to another one, or 0 for any free one`;
      reject(new BootError(isTaken ? taken : `Cannot listen on ${host}:${port}: ${message}`));
    });
    server.listen(port, host, resolve);
  });
}

async function closeServer(server: Server, underWay: Set<ServerResponse>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  do {
    await Promise.all([...underWay].map(whenClosed));
    await sleep(STRAGGLER_MS);
  } while (underWay.size > 0);
  // The remaining connections never sent a request. Node counts them as busy.
  server.closeAllConnections();
  await closed;
}

function whenClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
  });
}

/**
 * Creates a router that serves a path as it is documented and in no other spelling. Allow-lists of
 * a proxy, rate limits, idempotency keys and metrics go by the path. The settings of the app do not
 * reach its routers.
 */
export function strictRouter(): Router {
  return Router({ caseSensitive: true, strict: true });
}
