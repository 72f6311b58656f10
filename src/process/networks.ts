import { isIP } from 'node:net';
import ip from 'ipaddr.js';

/** A network: its address and the length of its prefix. */
export type Network = [address: ip.IPv4 | ip.IPv6, bits: number];

/**
 * Reads a list of addresses and networks, such as `196.201.214.200,196.201.212.0/24`.
 * @throws Error that says what is accepted
 */
export function networksFromText(text: string): readonly Network[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.every(isNetwork)) return items.map(networkOf);
  throw new Error('must be a list of IP addresses and networks, such as 196.201.212.0/24');
}

/** Tells whether an address lies in one of the networks. IPv4 in IPv6 counts as IPv4. */
export function isInNetworks(address: string | undefined, networks: readonly Network[]): boolean {
  if (address === undefined || !ip.isValid(address)) return false;
  const known = ip.process(address);
  return networks.some(
    ([network, bits]) => network.kind() === known.kind() && known.match(network, bits),
  );
}

function isNetwork(item: string): boolean {
  return item.includes('/') ? ip.isValidCIDR(item) : ip.isValid(item);
}

function networkOf(item: string): Network {
  if (item.includes('/')) return ip.parseCIDR(item);
  const address = ip.process(item);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];
const BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/**
 * Reads a number of proxies, or a list of addresses, networks and names of networks.
 * @returns the value of Express's setting "trust proxy"
 * @throws Error that says what is accepted
 */
export function trustedProxiesFromText(text: string): number | string[] {
  if (/^([1-9]|10)$/.test(text)) return Number(text);
  const proxies = text.split(',').map((item) => item.trim());
  if (proxies.every(isProxy)) return proxies;
  throw new Error(
    'must be a number of proxies from 1 to 10, or a list of addresses, networks and loopback',
  );
}

/**
 * The largest part of all addresses that proxies may have. Every private network together is less
 * than a fiftieth, and a content network is far less.
 */
const MAX_TRUSTED_SHARE = 1 / 32;
const MAPPED_BITS = 96;
const MAPPED = ip.IPv6.parse('::ffff:0:0');

/** Tells whether proxies cover so much of the world that strangers are among them. */
export function trustsTheWorld(proxies: number | string[]): boolean {
  if (typeof proxies === 'number') return false;
  const networks = proxies.filter((item) => item.includes('/')).map((item) => ip.parseCIDR(item));
  const share = networks.reduce((sum, [address, bits]) => sum + shareOf(address, bits), 0);
  return share > MAX_TRUSTED_SHARE;
}

/** Returns which part of all addresses a network is. IPv4 in IPv6 counts as IPv4. */
function shareOf(address: ip.IPv4 | ip.IPv6, bits: number): number {
  if (address.kind() === 'ipv4') return 2 ** -bits;
  if (MAPPED.match(address as ip.IPv6, Math.min(bits, MAPPED_BITS))) {
    return 2 ** -Math.max(0, bits - MAPPED_BITS);
  }
  return 2 ** -bits;
}

function isProxy(item: string): boolean {
  if (NAMED_NETWORKS.includes(item)) return true;
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const bits = BITS[isIP(address)];
  if (bits === undefined || prefix === undefined) return bits !== undefined;
  return Number(prefix) >= 1 && Number(prefix) <= bits;
}

/**
 * Tells whether a server that listens on this host is reached from this machine alone. Of names
 * only `localhost` counts: others, such as `127.0.0.1.example.com`, lead where their owner likes.
 */
export function isLocalHost(host: string): boolean {
  return host === 'localhost' || rangeOf(host) === 'loopback';
}

/** Tells whether an address names a host that others can reach, by its look. */
export function hasReachableHost(address: string): boolean {
  // Without a host, the parser takes the path for it.
  if (!/^\w+:\/\/[^/?#]/.test(address) || !URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/^\[|\]$|\.$/g, '');
  if (host === '' || /(^|\.)localhost$/.test(host)) return false;
  return !['loopback', 'unspecified'].includes(rangeOf(host));
}

function rangeOf(host: string): string {
  return isIP(host) === 0 ? 'name' : ip.process(host).range();
}
