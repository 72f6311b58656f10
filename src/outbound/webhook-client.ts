import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { finished } from 'node:stream';
import { messageOf } from '../connections/database-errors.ts';
import { isPortAllowed, portOf } from '../domain/address.ts';
import { storableText } from '../domain/text.ts';
import type { AttemptOutcome } from '../domain/webhooks/delivery.ts';
import type { Config } from '../process/config.ts';
import { MINUTE_MS } from '../time.ts';
import {
  addressesInDns,
  type Fence,
  type FindAddresses,
  fencedLookup,
  RefusedHost,
  refuseHost,
} from './addresses.ts';

/** The answer of a receiver. */
type WebhookAnswer = Pick<AttemptOutcome, 'retryAfterMs'> & {
  status: number;
  answer: string;
};

/** So much of a body is kept, for support. */
const MAX_KEPT_BYTES = 1_024;
/** So much of a body is read, so that the connection can be used again. Then it is closed. */
const MAX_READ_BYTES = 16 * 1_024;
/** The time for the body, counted from the headers. The status is known, and alone counts. */
const BODY_GRACE_MS = 1_000;

/**
 * Reads an answer whose headers have come. Gives it as soon as the part of the body that is kept
 * is there, the body has ended, well or badly, or its time is over. Never fails.
 */
async function readAnswer(response: IncomingMessage): Promise<WebhookAnswer> {
  const status = response.statusCode!;
  const retryAfterMs = retryAfterOf(status, response.headers['retry-after']);
  return { status, retryAfterMs, answer: await beginningOf(response) };
}

/** The rest of the body is read on for the connection's sake, within the same time. */
function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let kept = Buffer.alloc(0);
    let bytes = 0;
    const tell = () => {
      const isWhole = response.complete && bytes <= MAX_KEPT_BYTES;
      resolve(textOf(kept, isWhole));
    };
    const timer = setTimeout(() => response.destroy(), BODY_GRACE_MS);
    finished(response, () => {
      clearTimeout(timer);
      tell();
    });
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (kept.length < MAX_KEPT_BYTES) {
        kept = Buffer.concat([kept, chunk.subarray(0, MAX_KEPT_BYTES - kept.length)]);
        if (kept.length === MAX_KEPT_BYTES) tell();
      }
      if (bytes > MAX_READ_BYTES) response.destroy();
    });
  });
}

/** A character of UTF-8 that is cut off at the end is left out. */
function textOf(bytes: Buffer, isWhole: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: !isWhole });
  return storableText(text, MAX_KEPT_BYTES);
}

/** With these a receiver says when it may be asked again (RFC 9110, 10.2.3; RFC 6585, 4). */
const BUSY_STATUSES = [429, 503];
/** The three forms that a date may have (RFC 9110, 5.6.7). The last is in UTC without saying so. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/** Returns the time that a busy receiver asks for, or null. */
function retryAfterOf(status: number, header = ''): number | null {
  if (!BUSY_STATUSES.includes(status)) return null;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, Number.MAX_SAFE_INTEGER);
  if (!HTTP_DATES.some((form) => form.test(header))) return null;
  const waitMs = Date.parse(header.replace(/( GMT)?$/, ' GMT')) - Date.now();
  return waitMs >= 0 ? waitMs : null;
}

const MAX_ERROR_LENGTH = 300;

export interface PostOptions extends Fence {
  /** For the whole attempt. A status that is known by then counts, however its body goes on. */
  timeoutMs: number;
  /** The ports that are allowed. Null: any. */
  ports: readonly number[] | null;
  /** How names are looked up. Default: in the DNS. */
  find?: FindAddresses;
}

/** Returns how webhooks are posted by these settings. */
export function postOptionsOf(config: Config): PostOptions {
  return {
    timeoutMs: config.webhookTimeoutMs,
    allowPrivate: config.webhookAllowPrivate,
    blocked: config.webhookBlock ?? [],
    ports: config.webhookPorts,
  };
}

/**
 * POSTs a webhook, without redirects and retries; once more only if a kept connection was closed.
 * Refuses an address that may not be called at the moment of connecting, whatever name leads to it.
 * @returns the outcome; never throws for what the other side does
 */
export async function postWebhook(
  url: string,
  body: string,
  headers: Record<string, string>,
  options: PostOptions,
): Promise<AttemptOutcome> {
  const startedAt = performance.now();
  const durationMs = () => performance.now() - startedAt;
  const deadline = startDeadline(options.timeoutMs);
  try {
    const address = new URL(url);
    refusePort(address, options.ports);
    refuseHost(address, options);
    const answer = await post({ url: address, body, headers, options, signal: deadline.signal });
    return { ...answer, ...NO_ERROR, durationMs: durationMs() };
  } catch (error) {
    const timedOut = deadline.signal.aborted;
    const texts = timedOut
      ? { error: `timeout: no answer within ${options.timeoutMs} ms`, reason: null }
      : textsOf(error);
    return { ...NO_ANSWER, ...texts, timedOut, durationMs: durationMs() };
  } finally {
    deadline.end();
  }
}

/** The port was checked with the payment. The setting may have changed since. */
function refusePort(url: URL, ports: PostOptions['ports']): void {
  if (isPortAllowed(url, ports)) return;
  throw new Error(`port ${portOf(url)} is not in WEBHOOK_PORTS (${ports?.join(', ')})`);
}

const NO_ERROR = { error: null, reason: null, timedOut: false };
const NO_ANSWER = { status: null, retryAfterMs: null, answer: null };

function textsOf(error: unknown): Pick<AttemptOutcome, 'error' | 'reason'> {
  const text = (given: string) => storableText(given, MAX_ERROR_LENGTH);
  const reason = error instanceof RefusedHost ? text(error.reason) : null;
  return { error: text(messageOf(error)), reason };
}

/** Aborts its signal after a time. An answer that has arrived is read first: we may have slept. */
function startDeadline(timeoutMs: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => setImmediate(() => controller.abort()), timeoutMs);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

/** Less than the time after which common servers close a connection that nothing uses (5 s). */
const KEEP_IDLE_MS = 4_000;
/** After this new connections are opened, so that a change of addresses is followed. */
const KEEP_MS = MINUTE_MS;
/** The most idle connections that are kept to one host. */
const MAX_KEPT_COUNT = 10;

/** By the fence that judged their addresses: what one lets pass, another may refuse. */
const kept = new Map<string, ReturnType<typeof newConnections>>();

/** For the one request. */
const NEW_CONNECTION = false;

function newConnections() {
  const options = { keepAlive: true, timeout: KEEP_IDLE_MS, maxFreeSockets: MAX_KEPT_COUNT };
  const http = new Agent(options);
  return { http, https: new HttpsAgent(options), openedAt: performance.now() };
}

/**
 * Returns what keeps connections for the next webhook to the same host within the same fence. The
 * address of a kept one was checked when it was opened, and it leads nowhere else.
 */
function keptConnections({ protocol }: URL, { allowPrivate, blocked }: Fence): Agent {
  const networks = blocked.map(([address, bits]) => `${address}/${bits}`);
  const fence = `${allowPrivate} ${networks.join(',')}`;
  let connections = kept.get(fence);
  // Connections of the agent before close when they are idle.
  if (!connections || performance.now() - connections.openedAt > KEEP_MS) {
    connections = newConnections();
    kept.set(fence, connections);
  }
  return protocol === 'https:' ? connections.https : connections.http;
}

interface Post {
  url: URL;
  body: string;
  headers: Record<string, string>;
  options: PostOptions;
  signal: AbortSignal;
}

const CLOSED_CODES = ['ECONNRESET', 'EPIPE'];

/**
 * Posts on a kept connection if there is one. If the receiver has closed that, which it may do at
 * any moment, posts once more on a new one. Should both arrive, the receiver knows the second by
 * its id.
 */
async function post(
  each: Post,
  agent: Agent | false = keptConnections(each.url, each.options),
): Promise<WebhookAnswer> {
  const request = send(each, agent);
  try {
    return await readAnswer(await responseTo(request));
  } catch (error) {
    const isClosed = CLOSED_CODES.includes((error as NodeJS.ErrnoException).code ?? '');
    if (request.reusedSocket && isClosed) return post(each, NEW_CONNECTION);
    throw error;
  }
}

/** Redirects are answers like others, and what is compressed stays so. */
function send({ url, body, headers, options, signal }: Post, agent: Agent | false): ClientRequest {
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = start(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Malipo-Webhooks/1' },
    agent,
    lookup: fencedLookup(options, options.find ?? addressesInDns, signal),
    signal,
  });
  return request.end(body);
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays: an error after the answer changes nothing, and must have a listener.
    request.on('error', reject);
    // Comes without an error when the receiver switches protocols.
    request.once('close', () => reject(new Error('closed without an answer')));
  });
}
