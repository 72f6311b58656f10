import type { ClientRequest, Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import got, { CancelError, type Got, type OptionsInit, RequestError, type Response } from 'got';
import { abortAfter, type Deadline, isPast, msUntil } from '../time.ts';

/**
 * Creates the HTTP client of a driver. It sends each request once, takes any status for an answer,
 * and follows nothing.
 * @param timeoutMs is the limit for one whole exchange, from the name lookup to the last byte.
 * @param agent replaces Node's own agent, which keeps connections.
 */
export function createHttpClient(
  baseUrl: string,
  timeoutMs: number,
  agent?: { http: HttpAgent; https: HttpsAgent },
): Got {
  return got.extend({
    prefixUrl: baseUrl,
    timeout: { request: timeoutMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    // A small compressed answer could unpack to any size.
    decompress: false,
    headers: { 'user-agent': 'malipo', accept: 'application/json' },
    ...(agent && { agent }),
  });
}

/**
 * The outcome of one HTTP exchange.
 * - answered: a complete answer came. `body` is undefined when it is not JSON.
 * - neverSent: there was no connection, so nobody can have processed the request.
 * - lost: no complete answer came, and the request may have been processed.
 */
export type Exchange =
  | { outcome: 'answered'; status: number; body: unknown }
  | { outcome: 'neverSent'; reason: string }
  | { outcome: 'lost'; reason: string };

/** Answers of gateways have some hundred bytes. A longer one is not their own. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_REASON_LENGTH = 200;

/**
 * Sends one request, once. Tells a request that cannot have been processed from one that may have
 * been. Never throws for anything that a network or a server can do.
 */
export async function exchange(
  client: Got,
  path: string,
  options: OptionsInit,
  limits: Limits = {},
): Promise<Exchange> {
  const { deadline, maxAnswerBytes = MAX_ANSWER_BYTES } = limits;
  const ownMs = client.defaults.options.timeout.request ?? DEFAULT_TIMEOUT_MS;
  const timeoutMs = deadline ? Math.min(ownMs, msUntil(deadline)) : ownMs;
  if (timeoutMs <= 0) return { outcome: 'neverSent', reason: new TooLateError().message };
  try {
    const timeout = { request: timeoutMs };
    const response = await abortAfter(timeoutMs, (signal) =>
      boundedRequest(client, path, { ...options, timeout, signal }, { deadline, maxAnswerBytes }),
    );
    return { outcome: 'answered', status: response.statusCode, body: jsonOf(response.body) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error instanceof CancelError) return lost(`Answer over ${maxAnswerBytes} bytes`);
    return wasNeverSent(error)
      ? { outcome: 'neverSent', reason: reasonOf(error) }
      : lost(reasonOf(error));
  }
}

const DEFAULT_TIMEOUT_MS = 20_000;

interface Limits {
  /** Nothing of the request leaves after this. */
  deadline?: Deadline | undefined;
  maxAnswerBytes?: number;
}

async function boundedRequest(
  client: Got,
  path: string,
  options: OptionsInit,
  { deadline, maxAnswerBytes = MAX_ANSWER_BYTES }: Limits,
) {
  const request = client(path, { ...options, responseType: 'text', isStream: false });
  if (deadline) request.on('request', (sent: ClientRequest) => sendBefore(deadline, sent));
  request.on('downloadProgress', ({ transferred, total }) => {
    if (Math.max(transferred, total ?? 0) > maxAnswerBytes) request.cancel();
  });
  return (await request) as Response<string>;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lost(reason: string): Exchange {
  return { outcome: 'lost', reason };
}

/**
 * Decides by how far the connection came, and not by the error's code. A name that was not found, a
 * refusal, a bad certificate and a timeout while connecting all end before the connection stands. A
 * code like ECONNRESET can mean either. A request on a kept connection, or one whose progress is
 * unknown, counts as sent.
 */
function wasNeverSent(error: RequestError): boolean {
  const { request, timings } = error;
  if (error.cause instanceof TooLateError) return true;
  if (!timings || !request || request.reusedSocket) return false;
  const isTls = request.options.url instanceof URL && request.options.url.protocol === 'https:';
  return (isTls ? timings.secureConnect : timings.connect) === undefined;
}

function reasonOf(error: RequestError): string {
  return `${error.code} ${error.message}`.trim().slice(0, MAX_REASON_LENGTH);
}

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
