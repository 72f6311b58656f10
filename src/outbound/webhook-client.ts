import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { performance } from 'node:perf_hooks';
import { got, RequestError } from 'got';
import { messageOf } from '../connections/database-errors.ts';
import type { AttemptOutcome } from '../domain/webhooks/delivery.ts';
import { withDeadline } from './deadline.ts';
import { type Fence, fencedLookup, refuseHost } from './public-addresses.ts';

/** Only the status of an answer counts. So much of its body is read, and no more. */
const MAX_ANSWER_BYTES = 16 * 1_024;
const MAX_ERROR_LENGTH = 300;

interface PostOptions extends Fence {
  /** For the whole attempt. */
  timeoutMs: number;
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
  try {
    refuseHost(new URL(url), options);
    const status = await withDeadline(options.timeoutMs, (signal) =>
      post(url, body, headers, options, signal),
    );
    return { status, error: null, durationMs: durationMs(), timedOut: false };
  } catch (error) {
    const text = messageOf(error).slice(0, MAX_ERROR_LENGTH);
    return { status: null, error: text, durationMs: durationMs(), timedOut: /timeout/i.test(text) };
  }
}

/** Less than the time after which common servers close a connection that nothing uses (5 s). */
const KEEP_IDLE_MS = 4_000;
/** After this new connections are opened, so that a change of addresses is followed. */
const KEEP_MS = 60_000;
/** So many idle connections are kept to one host at most. */
const MAX_KEPT_COUNT = 10;

let kept = newConnections();

function newConnections() {
  const options = { keepAlive: true, timeout: KEEP_IDLE_MS, maxFreeSockets: MAX_KEPT_COUNT };
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  return { agents, openedAt: performance.now() };
}

/**
 * Returns what keeps connections for the next webhook to the same host. The address of a kept one
 * was checked when it was opened, and it leads nowhere else.
 */
function keptConnections() {
  // Those of the one before close when they are idle.
  if (performance.now() - kept.openedAt > KEEP_MS) kept = newConnections();
  return kept.agents;
}

/**
 * Posts once more if the receiver has closed a kept connection, which it may do at any moment.
 * Should both arrive, the receiver knows the second by its id.
 */
async function post(...request: Parameters<typeof postOnce>): Promise<number> {
  try {
    return await postOnce(...request);
  } catch (error) {
    if (!(error instanceof RequestError) || !error.request?.reusedSocket) throw error;
    if (!CLOSED_CODES.includes(error.code)) throw error;
    return postOnce(...request);
  }
}

const CLOSED_CODES = ['ECONNRESET', 'EPIPE'];

async function postOnce(
  url: string,
  body: string,
  headers: Record<string, string>,
  options: PostOptions,
  signal: AbortSignal,
): Promise<number> {
  const request = got.stream.post(url, {
    body,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Malipo-Webhooks/1' },
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    timeout: { request: options.timeoutMs },
    signal,
    agent: keptConnections(),
    dnsLookup: fencedLookup(options) as never,
  });
  let status: number | null = null;
  request.once('response', (response: { statusCode: number }) => {
    status = response.statusCode;
  });
  try {
    let bytes = 0;
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } catch (error) {
    // Once the status is known, it does not matter how the body ends.
    if (status === null) throw error;
  }
  if (status === null) throw new Error('no answer');
  return status;
}
