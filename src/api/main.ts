import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boot } from '../boot.ts';
import { BootError, runMain, shutDownOnSignals } from '../lifecycle.ts';
import { createApp } from './app.ts';

/** Longest that a request may take to arrive; it is answered in far less. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;

await runMain(async () => {
  const service = await boot('web');
  const { config, logger } = service;
  let stopping = false;
  const server = createServer(createApp(service, () => stopping));
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  await listen(server, config.port, config.host);
  shutDownOnSignals(logger, config.shutdownTimeoutMs, [
    {
      name: 'server',
      close: () => {
        stopping = true;
        return closeServer(server);
      },
    },
    { name: 'database', close: () => service.database.destroy() },
  ]);
  const { port } = server.address() as AddressInfo;
  logger.info('ready', { port });
});

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
