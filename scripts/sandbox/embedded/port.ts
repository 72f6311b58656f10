import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the range from which systems take the ports of outgoing connections (Linux
 * from 32768, macOS from 49152), so that nothing is given the port by chance while
 * its server restarts.
 */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_767;
const MAX_TRIES_COUNT = 50;

/** A port of 127.0.0.1 that is free now; somebody may still take it before it is used. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES_COUNT; tries += 1) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT + 1);
    if (!(await isPortTaken(port))) return port;
  }
  throw new Error(`No free port found between ${LOWEST_PORT} and ${HIGHEST_PORT}`);
}

/** Whether somebody listens at this port of 127.0.0.1. */
export async function isPortTaken(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(true);
      else reject(error);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(false));
    });
  });
}
