import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Deadline, isPast } from '../time.ts';

/** Ends a request that its deadline has kept from leaving. */
export class TooLateError extends Error {
  constructor() {
    super('The deadline passed before the request was sent');
    this.name = 'TooLateError';
  }
}

/**
 * Lets no byte of a request leave after its deadline. A timer is not enough: a process that was
 * frozen while it connected would send first, and hear of the time afterwards.
 */
export function sendBefore(deadline: Deadline, request: ClientRequest): void {
  request.once('socket', (socket) => {
    const sendOrDrop = () => {
      if (isPast(deadline)) request.destroy(new TooLateError());
      else socket.uncork();
    };
    // What is written stays in the socket until the connection stands. A kept one does.
    socket.cork();
    if (socket.connecting) socket.prependOnceListener(readyEventOf(socket), sendOrDrop);
    else sendOrDrop();
  });
}

function readyEventOf(socket: Socket): 'secureConnect' | 'connect' {
  return socket instanceof TLSSocket ? 'secureConnect' : 'connect';
}
