import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which systems take the ports of outgoing connections (Linux
 * from 32768, macOS from 49152), so that nothing is given the port by chance while
 * its server restarts.
 */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_767;

/** Returns a port of 127.0.0.1 that is free now. Another process may still take it. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(LOWEST_PORT, HIGHEST_PORT + 1);
  return (await isPortTaken(port)) ? findFreePort() : port;
}

/** Tells whether somebody listens at this port of 127.0.0.1. */
export async function isPortTaken(port: number): Promise<boolean> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return true;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return false;
}
