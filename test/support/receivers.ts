import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Plays a receiver on a connection on which a whole request has come. */
export type Receive = (socket: Socket) => void;

export interface Receiver {
  /** `127.0.0.1:PORT`. */
  host: string;
  /** How many requests have come. */
  requests: number;
  /** How many connections are open. */
  open: number;
  close(): Promise<void>;
}

/** Starts a receiver below HTTP, which writes what it likes, byte by byte. */
export async function startReceiver(receive: Receive): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    receiver.open += 1;
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      receiver.open -= 1;
    });
    // Requests of these tests fit into one packet, head and body.
    socket.on('data', () => {
      receiver.requests += 1;
      receive(socket);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: Receiver = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    open: 0,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Answers with a status line, headers and a body, and keeps the connection. */
export function answers(status: string, body: string | Buffer = '', ...headers: string[]): Receive {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return writes(headOf(`HTTP/1.1 ${status}`, ...headers, length), body);
}

/** Writes these bytes, and no more. */
export function writes(...parts: (string | Buffer)[]): Receive {
  return (socket) => void socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
}

/** Writes this, and closes the connection. */
export function breaksOff(text: string): Receive {
  return (socket) => void socket.end(text);
}

/** Writes a beginning, and then a few bytes more for as long as anybody listens. */
export function drips(beginning: string, drop: string): Receive {
  return (socket) => {
    socket.write(beginning);
    const timer = setInterval(() => socket.write(drop), DROP_INTERVAL_MS);
    socket.once('close', () => clearInterval(timer));
  };
}

const DROP_INTERVAL_MS = 20;

/** Sends a body of this length, as fast as it is taken. */
export function pours(lengthBytes: number): Receive {
  return (socket) => {
    let sentBytes = 0;
    const pour = () => {
      while (sentBytes < lengthBytes && !socket.destroyed) {
        sentBytes += PIECE.length;
        if (!socket.write(PIECE)) return void socket.once('drain', pour);
      }
    };
    socket.write(headOf('HTTP/1.1 200 OK', `Content-Length: ${lengthBytes}`));
    pour();
  };
}

const PIECE = Buffer.alloc(64 * 1_024, 'x');

export function headOf(statusLine: string, ...headers: string[]): string {
  return [statusLine, ...headers, '', ''].join('\r\n');
}

export const COMPRESSED = gzipSync('these words are never read');
