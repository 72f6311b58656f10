import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ip from 'ipaddr.js';
import { messageOf } from '../connections/database-errors.ts';
import { isInNetworks, type Network } from '../process/networks.ts';

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

/** Which addresses a webhook may not go to. */
export interface Fence {
  /** Lets it reach inside our own network. */
  allowPrivate: boolean;
  /** Networks that are refused in any case. */
  blocked: readonly Network[];
}

/** The networks that IANA has assigned so far. The rest of IPv6 is reserved or special. */
const GLOBAL_IPV6 = ip.IPv6.parseCIDR('2000::/3');
/** An old form in `::/96`, which the library takes for the address of IPv4 in it. */
const IPV4_COMPATIBLE = /^::\d+\./;

/**
 * Tells whether an address is a public one: not in IANA's registries of special-purpose addresses,
 * such as private, loopback, link-local and shared ones, documentation, benchmarks and translation.
 */
export function isPublicAddress(address: string): boolean {
  if (IPV4_COMPATIBLE.test(address)) return false;
  // An IPv4 address in IPv6 form is the IPv4 address that it is.
  const known = ip.process(address);
  if (known.range() !== 'unicast') return false;
  if (known.kind() === 'ipv4') return known.toString() !== AZURE_WIRE_SERVER;
  return known.match(GLOBAL_IPV6);
}

/** Public by its number, but served by Azure inside each of its machines, with their settings. */
const AZURE_WIRE_SERVER = '168.63.129.16';

/** Returns why a webhook may not go to an address, or null. Our machine may have public ones too. */
export function refusalOf(
  address: string,
  { allowPrivate, blocked }: Fence,
  interfaces: () => Partial<Record<string, { address: string }[]>> = networkInterfaces,
): string | null {
  if (isInNetworks(address, blocked)) return `${address} is in WEBHOOK_BLOCK`;
  if (allowPrivate) return null;
  if (!isPublicAddress(address)) return `${address} is not a public address`;
  const own = Object.values(interfaces()).flatMap((each) => each ?? []);
  const isOwn = own.some((each) => textOf(each.address) === textOf(address));
  return isOwn ? `${address} is an address of this machine` : null;
}

/** Each address in its one normal form. */
function textOf(address: string): string {
  return ip.process(address).toNormalizedString();
}

/**
 * A host that may not be called, or that nobody knows. Merchants see the message, which is the same
 * for both: names and addresses of the inside are none of their business.
 */
export class RefusedHost extends Error {
  /** For operators. */
  readonly reason: string;

  constructor(reason: string) {
    super('The host leads to no public address');
    this.reason = reason;
  }
}

/** @throws RefusedHost when the host of a URL is an address that is refused. Names are looked up later. */
export function refuseHost({ hostname }: URL, fence: Fence): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) refuseAddress(address, fence);
}

function refuseAddress(address: string, fence: Fence): void {
  const refusal = refusalOf(address, fence);
  if (refusal) throw new RefusedHost(refusal);
}

/**
 * Returns how a connection looks names up: it is refused a name of which any address is refused.
 * @param signal ends the lookup
 */
export function fencedLookup(
  fence: Fence,
  find: FindAddresses,
  signal: AbortSignal,
): LookupFunction {
  const judged = async (hostname: string) => {
    const addresses = await find(hostname, signal).catch((error: unknown) => {
      throw new RefusedHost(messageOf(error));
    });
    for (const { address } of addresses) refuseAddress(address, fence);
    return addresses;
  };
  return (hostname, { all }, callback) => {
    judged(hostname).then(
      (addresses) => {
        const first = addresses[0]!;
        if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}
