import type { ClientRequest } from 'node:http';
import { CancelError, type Got, type OptionsInit, RequestError, type Response } from 'got';
import { abortAfter, type Deadline, msUntil } from '../time.ts';
import { sendBefore, TooLateError } from './send-before.ts';

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
