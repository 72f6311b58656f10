import { isIP, isIPv4 } from 'node:net';
import ip from 'ipaddr.js';
import type { Reader } from './field.ts';
import { reader, wrong } from './readers.ts';

const MAX_ENTRIES = 100;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

const addresses = reader('ADDRESSES|none', `at most ${MAX_ENTRIES} addresses`, (raw) => {
  if (raw === 'none') return [];
  const entries = new Set(raw.split(',').map((entry) => normalized(entry.trim())));
  return entries.size > MAX_ENTRIES ? undefined : [...entries];
});
/**
 * Addresses and networks separated by commas. An IPv4 address that is written as IPv6 becomes
 * IPv4. `none` is the empty list, which lets an app call from anywhere.
 */
export const ipAllowList: Reader<string[]> = {
  ...addresses,
  none: 'none',
  write: (list) => list.join(', ') || 'none',
};

function normalized(entry: string): string {
  const [, text = '', prefix] = /^([^/%]+?)(?:\/(0|[1-9]\d{0,2}))?$/.exec(entry) ?? [];
  // The library also takes short forms such as 10.1, which are mistakes here.
  if (!isIP(text)) throw wrong('IPv4 or IPv6 addresses or networks, or none', entry);
  const address = ip.process(text);
  const isV4 = address.kind() === 'ipv4';
  const bits = isV4 ? IPV4_BITS : IPV6_BITS;
  const writtenBits = isIPv4(text) ? IPV4_BITS : IPV6_BITS;
  const writtenLength = Number(prefix ?? writtenBits);
  const length = writtenLength - (writtenBits - bits);
  if (writtenLength > writtenBits) throw wrong(`a network of /0 to /${writtenBits}`, entry);
  if (length < 0) {
    throw wrong(`written as IPv4, or with a prefix of /${writtenBits - bits} or longer`, entry);
  }
  const network = (isV4 ? ip.IPv4 : ip.IPv6).networkAddressFromCIDR(`${address}/${length}`);
  // Bits after the prefix have no effect. More likely the prefix is a mistake.
  if (network.toString() !== address.toString()) {
    throw wrong(`a network whose address ends where its prefix /${writtenLength} does`, entry);
  }
  return length === bits ? `${address}` : `${address}/${length}`;
}
