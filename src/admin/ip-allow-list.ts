import { isIPv4, isIPv6 } from 'node:net';
import type { Reader } from './command.ts';
import { wrong } from './readers.ts';

const MAX_ENTRIES = 100;
const IPV4_BITS = 32;
const IPV6_BITS = 128;
const HEXTET_BITS = 16;
/** `::ffff:0:0/96`: IPv4 addresses in the form of IPv6 ones. */
const MAPPED_PREFIX = 0xffffn;
const MAPPED_BITS = IPV6_BITS - IPV4_BITS;

/**
 * Addresses and networks between commas, IPv4-mapped ones as the IPv4 that they are;
 * `none` is the empty list, which lets an app call from anywhere.
 */
export const ipAllowList: Reader<string[]> = {
  placeholder: 'ADDRESSES|none',
  read: (raw) => {
    if (raw === 'none') return [];
    const entries = raw.split(',').map((entry) => normalized(entry.trim()));
    const unique = [...new Set(entries)];
    if (unique.length > MAX_ENTRIES) throw wrong(`at most ${MAX_ENTRIES} addresses`, raw);
    return unique;
  },
};

function normalized(entry: string): string {
  const [, address = '', prefix] = /^([^/%]+?)(?:\/(0|[1-9]\d{0,2}))?$/.exec(entry) ?? [];
  const family = familyOf(address);
  if (!family) throw wrong('IPv4 or IPv6 addresses or networks, or none', entry);
  const length = prefix === undefined ? family.bits : Number(prefix);
  if (length > family.bits) throw wrong(`a network of /0 to /${family.bits}`, entry);
  if (isMapped(family) && length < MAPPED_BITS) {
    throw wrong(`written as IPv4, or with a prefix of /${MAPPED_BITS} or longer`, entry);
  }
  const hostBits = BigInt(family.bits - length);
  // Bits after the prefix would be ignored: more likely the prefix is not the one that was meant.
  if ((family.value >> hostBits) << hostBits !== family.value) {
    throw wrong(`a network whose address ends where its prefix /${length} does`, entry);
  }
  return written(family, length);
}

interface Address {
  bits: number;
  value: bigint;
}

function familyOf(address: string): Address | null {
  if (isIPv4(address)) return { bits: IPV4_BITS, value: ipv4Value(address) };
  if (isIPv6(address)) return { bits: IPV6_BITS, value: ipv6Value(address) };
  return null;
}

function ipv4Value(address: string): bigint {
  return address.split('.').reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function ipv6Value(address: string): bigint {
  // A dotted end is the same as two groups of hexadecimal digits.
  const plain = address.replace(/[\d.]+\.\d+$/, (dotted) => {
    const value = ipv4Value(dotted);
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  });
  const [head = '', tail] = plain.split('::').map(groupsOf);
  const missing = IPV6_BITS / HEXTET_BITS - head.length - (tail?.length ?? 0);
  const groups = [...head, ...Array<string>(tail ? missing : 0).fill('0'), ...(tail ?? [])];
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

function isMapped({ bits, value }: Address): boolean {
  return bits === IPV6_BITS && value >> BigInt(IPV4_BITS) === MAPPED_PREFIX;
}

function written(address: Address, length: number): string {
  if (isMapped(address)) {
    const value = address.value & 0xffffffffn;
    return written({ bits: IPV4_BITS, value }, length - MAPPED_BITS);
  }
  const { bits, value } = address;
  const suffix = length === bits ? '' : `/${length}`;
  if (bits === IPV4_BITS) return `${parts(value, bits, 8, 10).join('.')}${suffix}`;
  return `${parts(value, bits, HEXTET_BITS, 16).join(':')}${suffix}`;
}

function parts(value: bigint, bits: number, size: number, radix: number): string[] {
  const mask = (1n << BigInt(size)) - 1n;
  return Array.from({ length: bits / size }, (_, index) =>
    ((value >> BigInt(bits - size * (index + 1))) & mask).toString(radix),
  );
}
