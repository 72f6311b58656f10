import { isIP } from 'node:net';

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

function isProxy(item: string): boolean {
  if (NAMED_NETWORKS.includes(item)) return true;
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const bits = BITS[isIP(address)];
  if (bits === undefined || prefix === undefined) return bits !== undefined;
  return Number(prefix) >= 1 && Number(prefix) <= bits;
}
