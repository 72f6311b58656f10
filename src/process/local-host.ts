import { isIP } from 'node:net';
import ip from 'ipaddr.js';

/**
 * Tells whether a server that listens on this host is reached from this machine alone. Of names
 * only `localhost` counts: others, such as `127.0.0.1.example.com`, lead where their owner likes.
 */
export function isLocalHost(host: string): boolean {
  return host === 'localhost' || rangeOf(host) === 'loopback';
}

/** Tells whether an address names a host that others can reach, by its look. */
export function hasReachableHost(address: string): boolean {
  // The parser takes the path for the host where there is none.
  if (!/^\w+:\/\/[^/?#]/.test(address) || !URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/^\[|\]$|\.$/g, '');
  if (host === '' || /(^|\.)localhost$/.test(host)) return false;
  return !['loopback', 'unspecified'].includes(rangeOf(host));
}

function rangeOf(host: string): string {
  return isIP(host) === 0 ? 'name' : ip.process(host).range();
}
