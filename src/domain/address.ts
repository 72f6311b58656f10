import { isIP } from 'node:net';
import { firstRow, type Transaction } from '../connections/database.ts';
import { isPlainText } from './text.ts';

export const MAX_CALLBACK_URL_LENGTH = 2_048;
/** The limit of DNS for the name that is looked up. */
const MAX_HOST_LENGTH = 253;

/** Checks for an absolute http(s) address without user information. */
export function isCallbackUrl(value: string): boolean {
  // The URL parser accepts white space and backslashes, which we must not store.
  if (!/^https?:\/\/[^\s\\/?#][^\s\\]*$/i.test(value) || !isPlainText(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password, hostname } = new URL(value);
  return username === '' && password === '' && hostname.length <= MAX_HOST_LENGTH;
}

/** Checks for an endpoint as we show it: scheme, host and port, the usual port left out. */
export function isEndpoint(value: string): boolean {
  return isCallbackUrl(value) && new URL(value).origin === value;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** Tells whether webhooks may go to the port of an address. `allowed` is null for any. */
export function isPortAllowed(url: URL, allowed: readonly number[] | null): boolean {
  return allowed === null || allowed.includes(portOf(url));
}

/** Returns the port to which an address leads. */
export function portOf({ protocol, port }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
}

/** Tells whether a text is an IPv4 or IPv6 address as PostgreSQL takes it: without a zone. */
export function isIpAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** Returns SQL: whether the address `:ip` is on a list of type inet[]. An empty list allows all. */
export function isOnList(list: string): string {
  return `coalesce(cardinality(${list}) = 0 OR CAST(:ip AS inet) <<= ANY (${list}), false)`;
}

/** Writes addresses as PostgreSQL does, so that they can be compared with the stored ones. */
export async function asStored(trx: Transaction, addresses: string[]): Promise<string[]> {
  const row = await firstRow<{ list: string[] }>(trx, 'SELECT CAST(:addresses AS inet[]) AS list', {
    addresses,
  });
  return row!.list;
}
