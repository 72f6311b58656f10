import { isIP } from 'node:net';
import ip from 'ipaddr.js';

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
