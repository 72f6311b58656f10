import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';

/** Finds the addresses of a host name. @throws Error without addresses, or when the signal comes first */
export type FindAddresses = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/** The first wait for an answer of a name server. The next one is twice as long. */
const FIRST_WAIT_MS = 1_500;
const MAX_TRIES = 2;

/** RFC 6761: these names mean this machine, and no name server is asked. */
const LOCALHOST = /^(.+\.)?localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Asks the name servers of `/etc/resolv.conf` for the addresses of both families, IPv4 first. The
 * system's own lookup cannot be ended and takes one of the few threads of the process: a slow name
 * server of one merchant would hold up all others. `/etc/hosts` and search domains do not count.
 * @param servers other name servers, each with its port
 */
export async function addressesInDns(
  hostname: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<LookupAddress[]> {
  if (LOCALHOST.test(hostname)) return [...LOOPBACK];
  const resolver = new Resolver({ timeout: FIRST_WAIT_MS, tries: MAX_TRIES });
  if (servers) resolver.setServers(servers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const found = await Promise.allSettled([
    addressesOf(4, resolver.resolve4(hostname)),
    addressesOf(6, resolver.resolve6(hostname)),
  ]);
  const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  // A family without an answer is left out. Only what was judged is called.
  if (addresses.length === 0) throw (found[0] as PromiseRejectedResult).reason;
  return addresses;
}

async function addressesOf(family: 4 | 6, answer: Promise<string[]>): Promise<LookupAddress[]> {
  return (await answer).map((address) => ({ address, family }));
}

/** Looks a name up as the system does, with `/etc/hosts`. Only for names that operators choose. */
export function addressesOfSystem(hostname: string): Promise<LookupAddress[]> {
  return lookup(hostname, { all: true });
}
