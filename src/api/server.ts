import type { RequestListener } from 'node:http';
import { type HttpServer, SERVER_LIMITS, startHttpServer } from '../http/http-server.ts';
import type { Config } from '../process/config.ts';
import { unreadableHandler } from './unreadable.ts';

/**
 * Serves the API at its port, and answers in its form what cannot be read.
 * @throws BootError when the port or the certificate cannot be used
 */
export function startApiServer(
  { tls, host, port }: Pick<Config, 'tls' | 'host' | 'port'>,
  app: RequestListener,
  stopping: AbortSignal,
  limits = SERVER_LIMITS,
): Promise<HttpServer> {
  const listening = { tls, host, port, setting: 'PORT' } as const;
  return startHttpServer(listening, app, stopping, { limits, unreadable: unreadableHandler });
}
