import { isIP } from 'node:net';

/** Returns the part of an address that belongs to one caller: of IPv6, the network of 64 bits. */
export function networkOf(ip: string | null): string {
  if (ip === null || isIP(ip) !== 6) return String(ip);
  const [head = '', tail] = ip.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(tail ? tail.split(':') : [])];
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
