import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Certificates } from './certificates.ts';

export interface TlsFront {
  /** The same server, by HTTPS and by a name that the certificate has. */
  url: string;
  close(): Promise<void>;
}

/** Serves a local HTTP server by TLS, as the networks of providers and merchants do. */
export async function startTlsFront(
  target: string,
  { cert, key }: Pick<Certificates, 'cert' | 'key'>,
): Promise<TlsFront> {
  const { port, hostname, pathname } = new URL(target);
  const open = new Set<TLSSocket>();
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
    const inner = connect(Number(port), hostname);
    open.add(socket);
    socket.on('close', () => open.delete(socket) && inner.destroy());
    inner.on('close', () => socket.destroy());
    for (const end of [socket, inner]) end.on('error', () => {});
    socket.pipe(inner).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const path = pathname === '/' ? '' : pathname;
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}${path}`,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
