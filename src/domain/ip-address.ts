import { isIP } from 'node:net';

/** Tells whether a text is an IPv4 or IPv6 address as PostgreSQL takes it: without a zone. */
export function isIpAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}
