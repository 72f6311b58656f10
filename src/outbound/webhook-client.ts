import { lookup as dnsLookup } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import { got } from 'got';
import { messageOf } from '../connections/database-errors.ts';
import type { AttemptOutcome } from '../domain/webhooks/delivery.ts';
import { withDeadline } from './deadline.ts';

/** Of an answer only the status counts; this much of its body is read out of politeness. */
const MAX_ANSWER_BYTES = 16 * 1_024;
const MAX_ERROR_LENGTH = 300;

/**
 * POSTs a webhook once: no redirects, no retries, `timeoutMs` in all. Unless private
 * addresses are allowed, one that a merchant's host name leads to is refused at the moment
 * of connecting, so that a callback address cannot reach inside our own network.
 * @returns what came of it; never throws for what the other side does.
 */
export async function postWebhook(
  url: string,
  body: string,
  headers: Record<string, string>,
  options: { timeoutMs: number; allowPrivate: boolean },
): Promise<AttemptOutcome> {
  const startedAt = performance.now();
  const durationMs = () => performance.now() - startedAt;
  try {
    if (!options.allowPrivate) refusePrivateLiteral(new URL(url));
    const status = await withDeadline(options.timeoutMs, (signal) =>
      post(url, body, headers, options, signal),
    );
    return { status, error: null, durationMs: durationMs() };
  } catch (error) {
    const text = messageOf(error).slice(0, MAX_ERROR_LENGTH);
    return { status: null, error: text, durationMs: durationMs() };
  }
}

/**
 * Webhooks share no connections with anybody: one that is open already would be used
 * without looking at its address again.
 */
const FRESH_CONNECTIONS = { http: new HttpAgent(), https: new HttpsAgent() };

async function post(
  url: string,
  body: string,
  headers: Record<string, string>,
  options: { timeoutMs: number; allowPrivate: boolean },
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
    ...(options.allowPrivate ? {} : { dnsLookup: publicLookup as never }),
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
    // With the status said, it does not matter how the body ends.
    if (status === null) throw error;
  }
  if (status === null) throw new Error('no answer');
  return status;
}

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  // Also IPv4 addresses in the old compatible form.
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv6');
}

/** Whether an address is of a private, loopback, link-local or otherwise special network. */
export function isPrivateAddress(address: string): boolean {
  // An IPv4 address in IPv6 form is checked as the IPv4 address that it is.
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function refusePrivateLiteral({ hostname }: URL): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isPrivateAddress(address)) throw privateError(address);
}

function privateError(address: string): Error {
  return new Error(`${address} is not a public address`);
}

/** Resolves like the system does, and refuses if any address of the name is private. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const inside = addresses.find(({ address }) => isPrivateAddress(address));
    if (inside) return callback(privateError(inside.address), []);
    const first = addresses[0];
    if (options.all || !first) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};
