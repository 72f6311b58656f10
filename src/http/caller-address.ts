import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * Returns the caller's IP address, as the trusted proxies report it, or null when the connection is
 * gone. An IPv4 address in IPv6 form is returned as IPv4.
 */
export function addressOf(req: Request): string | null {
  const address = (req.ip ?? '').replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return null;
  return version === 6 ? withoutMapping(address) : address;
}

/** The URL parser reads every form of an IPv6 address, and always writes the same one. */
function withoutMapping(address: string): string {
  const { hostname } = new URL(`http://[${address}]/`);
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (!high || !low) return address;
  const halves = [high, low].map((half) => Number.parseInt(half, 16));
  return halves.flatMap((half) => [half >> 8, half & 0xff]).join('.');
}
