import { type Database, inTransaction } from '../connections/database.ts';
import { isReadOnlyError } from '../connections/database-errors.ts';
import { recordAudit } from '../domain/audit.ts';
import { maskPhones } from '../domain/phone.ts';
import type { Order } from './verb.ts';

const NOT_RECORDED = 'The database can only be read, so the audit log does not have this read';

/**
 * Writes into the audit log that an operator reads data: what was looked for, with phones
 * masked, and how many rows were found.
 * @returns null, or a warning when the database can only be read: then data is needed most
 */
export async function recordRead(
  database: Database,
  actor: string,
  order: Order,
  count: number | null,
): Promise<string | null> {
  const { action, verb, values } = order;
  const [noun] = action.split('.') as [string];
  const named = verb.argument === undefined ? undefined : values[verb.argument];
  const { merchant_id } = values;
  const entry = {
    ...{ actor, action, reason: null },
    merchant_id: typeof merchant_id === 'number' ? merchant_id : null,
    subject: named === undefined ? noun : `${noun} ${masked(named)}`,
    details: { ...lookedFor(values), rows: count },
  };
  try {
    await inTransaction(database, (trx) => recordAudit(trx, entry));
    return null;
  } catch (error) {
    if (isReadOnlyError(error)) return NOT_RECORDED;
    throw error;
  }
}

function lookedFor(values: Order['values']): Record<string, unknown> {
  const given = Object.entries(values).filter(
    ([name, value]) => value !== undefined && value !== false && name !== 'otp',
  );
  return Object.fromEntries(given.map(([name, value]) => [name, masked(value)]));
}

function masked(value: unknown): unknown {
  return typeof value === 'string' ? maskPhones(value) : value;
}
