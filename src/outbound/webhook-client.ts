import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { performance } from 'node:perf_hooks';
import { got } from 'got';
import { messageOf } from '../connections/database-errors.ts';
import type { AttemptOutcome } from '../domain/webhooks/delivery.ts';
import { withDeadline } from './deadline.ts';
import { lookUpPublic, refusePrivateHost } from './public-addresses.ts';

/** Only the status of an answer counts. So much of its body is read, and no more. */
const MAX_ANSWER_BYTES = 16 * 1_024;
const MAX_ERROR_LENGTH = 300;

interface PostOptions {
  /** For the whole attempt. */
  timeoutMs: number;
  /** Lets a callback address reach inside our own network. */
  allowPrivate: boolean;
}

/**
 * POSTs a webhook once, without redirects and retries. Unless private addresses are allowed,
 * refuses one at the moment of connecting, whatever name leads to it.
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
    if (!options.allowPrivate) refusePrivateHost(new URL(url));
    const status = await withDeadline(options.timeoutMs, (signal) =>
      post(url, body, headers, options, signal),
    );
    return { status, error: null, durationMs: durationMs() };
  } catch (error) {
    const text = messageOf(error).slice(0, MAX_ERROR_LENGTH);
    return { status: null, error: text, durationMs: durationMs() };
  }
}

/** Each webhook opens its own connection. A kept one would skip the check of its address. */
const FRESH_CONNECTIONS = { http: new HttpAgent(), https: new HttpsAgent() };

async function post(
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
    agent: FRESH_CONNECTIONS,
    ...(options.allowPrivate ? {} : { dnsLookup: lookUpPublic as never }),
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
