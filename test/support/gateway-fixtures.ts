import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CallbackAddress,
  GatewayPaymentKind,
  SubmitRequest,
} from '../../src/gateways/gateway.ts';
import { deadlineIn, MINUTE_MS } from '../../src/time.ts';

export interface LocalServer {
  url: string;
  close(): Promise<void>;
}

export interface CallbackReceiver extends LocalServer {
  /** Where a payment's callbacks are to go; by default its results. */
  urlFor(reference: string, address?: CallbackAddress): string;
  /** The bodies received for a payment at one address, in order; by default its results. */
  bodiesOf(reference: string, address?: CallbackAddress): string[];
}

/** No test takes longer, so a driver keeps its own timeout. */
const EVENTUALLY_MS = 15_000;
const POLL_MS = 5;

/** Serves on a free loopback port; `close` cuts what is open. */
export async function startLocalServer(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Plays the address that gateways call back; `onCallback` hears of each one at once. */
export async function startCallbackReceiver(
  onCallback: (reference: string, body: string) => void = () => {},
): Promise<CallbackReceiver> {
  const bodies = new Map<string, string[]>();
  const server = await startLocalServer(async (req, res) => {
    const path = (req.url ?? '').slice(1);
    const body = await bodyOf(req);
    bodies.set(path, [...(bodies.get(path) ?? []), body]);
    onCallback(path, body);
    res.end();
  });
  const pathOf = (reference: string, address: CallbackAddress = 'result') =>
    address === 'result' ? reference : `${reference}/${address}`;
  return {
    ...server,
    urlFor: (reference, address) => `${server.url}/${pathOf(reference, address)}`,
    bodiesOf: (reference, address) => bodies.get(pathOf(reference, address)) ?? [],
  };
}

/** The whole of a request's or an answer's body. */
export async function bodyOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A port where nothing listens. */
export async function closedPortUrl(): Promise<string> {
  const server = await startLocalServer(() => {});
  await server.close();
  return server.url;
}

export function aSubmission(
  kind: GatewayPaymentKind,
  account: string,
  fields: Partial<SubmitRequest> = {},
): SubmitRequest {
  return {
    kind,
    reference: randomUUID(),
    account,
    amountCents: 100_00,
    channel: 63902,
    accountNumber: kind === 'collection' ? 'INV-001' : null,
    narration: kind === 'payout' ? 'Disbursement' : null,
    merchantName: 'Mama Mboga',
    callbackUrl: 'http://127.0.0.1:9/nobody',
    timeoutUrl: 'http://127.0.0.1:9/nobody-in-time',
    deadline: deadlineIn(MINUTE_MS),
    originalTransId: kind === 'return' || kind === 'reversal' ? 'SJK3ABCDE1' : null,
    ...fields,
  };
}

/** Asks again until there is an answer other than undefined or false. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = Date.now() + EVENTUALLY_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<NonNullable<T>, false>;
    if (Date.now() > deadline) throw new Error('It did not happen in time');
    await sleep(POLL_MS);
  }
}
