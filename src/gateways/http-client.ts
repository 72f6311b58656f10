import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import got, { type Got } from 'got';

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
