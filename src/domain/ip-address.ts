import { isIP } from 'node:net';
import { firstRow, type Transaction } from '../connections/database.ts';

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
