import type { Database } from '../connections/database.ts';
import { recordRead } from '../domain/audit/audit.ts';
import { maskPhones } from '../domain/text.ts';
import type { Order } from './verb.ts';

/**
 * Writes into the audit log that an operator reads data: what was looked for, with phones
 * masked, and how many rows were found.
 * @returns null, or a warning when the database can only be read: then data is needed most
 */
export function recordOrder(
  database: Database,
  actor: string,
  { action, verb, values }: Order,
  rows: number | null,
): Promise<string | null> {
  const [noun] = action.split('.') as [string];
  const named = verb.argument === undefined ? undefined : values[verb.argument];
  const { merchant_id } = values;
  return recordRead(database, {
    actor,
    action,
    rows,
    lookedFor: lookedFor(values),
    merchant_id: typeof merchant_id === 'number' ? merchant_id : null,
    subject: named === undefined ? noun : `${noun} ${masked(named)}`,
  });
}

function lookedFor(values: Order['values']): Record<string, unknown> {
  const given = Object.entries(values).filter(
    ([name, value]) => value !== undefined && value !== false && name !== 'otp',
  );
  return Object.fromEntries(given);
}

/** Masks phones. A value that is nothing but a phone may be written in more ways than one in a text. */
function masked(value: unknown): unknown {
  return typeof value === 'string' ? maskPhones(value) : value;
}
