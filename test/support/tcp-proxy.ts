import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  /** The address given, led through here. */
  url: string;
  /** Cuts every connection and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Leads new connections to another server. */
  leadTo(target: string): void;
  /** Cuts the connection on which the server answers next, in place of the answer. */
  cutNextAnswer(): void;
  close(): Promise<void>;
}

/** Stands between a client and the server of `target`, to take the server away at will. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cutsAnswer = false;
  let server: Server;

  function relay(client: Socket): void {
    const upstream = connect(Number(port || 5_432), hostname);
    // Before the pipe, so that nothing of the answer goes through.
    upstream.on('data', () => {
      if (cutsAnswer) client.destroy();
      cutsAnswer = false;
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }

  async function listen(onPort: number): Promise<number> {
    server = createServer(relay).listen(onPort, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const ownPort = await listen(0);
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  const restore = async () => void (await listen(ownPort));
  const leadTo = (other: string) => {
    ({ hostname, port } = new URL(other));
  };
  const cutNextAnswer = () => {
    cutsAnswer = true;
  };
  return { url: url.href, cut, restore, leadTo, cutNextAnswer, close: cut };
}
