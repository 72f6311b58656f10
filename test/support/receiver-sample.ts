import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { signatureHeaders } from '../../src/domain/webhooks/sign.ts';
import { eventually } from './eventually.ts';

const SECRET = 'as_a-secret-of-an-app';
/** What a receiver writes when the order is paid. */
const SHIPS = /^(Ship|transaction\.completed) order-1\b/;
/** More than any webhook has. */
const HUGE_BYTES = 8 * 1_024 * 1_024;

export interface ReceiverSample {
  /** The program and its folder. */
  file: string;
  cwd: string;
  env?: Record<string, string>;
}

/** The statuses that a receiver answers, and what it writes meanwhile. */
export interface Reception {
  unsigned: number;
  forged: number;
  /** For the reversal, the payout and the collection. */
  signed: number[];
  lines: string[];
}

/**
 * Starts a receiver that readers copy. Does to it what any stranger can: posts without a signature
 * and with a wrong one, a body that breaks off, and one that is too large. Then posts the webhooks of a
 * reversal, a payout and a collection, which have one `ref_no`.
 */
export async function tryReceiver({ file, cwd, env }: ReceiverSample): Promise<Reception> {
  const port = await findFreePort();
  const ports = { PORT: String(port), RECEIVER_PORT: String(port) };
  const receiver = spawn(process.execPath, [file], {
    ...{ cwd, env: { ...process.env, ...env, ...ports, APP_SECRET: SECRET } },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  createInterface(receiver.stdout).on('line', (line) => lines.push(line));
  try {
    await eventually('the receiver', () => isListening(port));
    const unsigned = await post(port, '{}');
    const forged = await post(port, '{}', { secret: 'as_of-a-stranger' });
    await breakOff(port);
    await post(port, 'x'.repeat(HUGE_BYTES), { secret: SECRET }).catch(() => null);
    const signed: number[] = [];
    for (const type of ['reversal', 'payout', 'collection']) {
      signed.push(await post(port, webhookOf(type), { secret: SECRET, event_id: type }));
    }
    await eventually('its line', async () => lines.some((line) => SHIPS.test(line)));
    return { unsigned, forged, signed, lines };
  } finally {
    receiver.kill('SIGKILL');
  }
}

/** A connection, since a look by listening there could keep the receiver from its port. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function webhookOf(type: string): string {
  return JSON.stringify({
    notification: { type, event: 'transaction.completed' },
    data: { ref_no: 'order-1', amount: '250.00', trans_id: 'TKJ7A1B2C3' },
  });
}

async function post(
  port: number,
  body: string,
  signed?: { secret: string; event_id?: string },
): Promise<number> {
  const timestamp = Math.floor(Date.now() / 1_000);
  const { secret, event_id = 'e-1' } = signed ?? {};
  const headers =
    secret && signatureHeaders({ event_id, sequence: 1, timestamp, body, secrets: [secret] });
  const url = `http://127.0.0.1:${port}/webhooks`;
  return (await fetch(url, { method: 'POST', body, ...(headers && { headers }) })).status;
}

/** Announces ten bytes, sends three and closes. */
async function breakOff(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  socket.resume().end('POST /webhooks HTTP/1.1\r\nHost: shop\r\nContent-Length: 10\r\n\r\nabc');
  await closed;
}
