import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * The address that a request comes from, as far as its proxies are trusted; null when it
 * is gone or not an address. An IPv4 address in IPv6 form is the IPv4 address that it is.
 */
export function addressOf(req: Request): string | null {
  const address = (req.ip ?? '').replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return null;
  return version === 6 ? withoutMapping(address) : address;
}

/** The URL parser knows every way to write an IPv6 address, and writes all of them in one. */
function withoutMapping(address: string): string {
  const { hostname } = new URL(`http://[${address}]/`);
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (!high || !low) return address;
  const halves = [high, low].map((half) => Number.parseInt(half, 16));
  return halves.flatMap((half) => [half >> 8, half & 0xff]).join('.');
}
