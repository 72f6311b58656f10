import { type Database, inTransaction } from '../connections/database.ts';
import { isReadOnlyError } from '../connections/database-errors.ts';
import { recordAudit } from './audit.ts';
import { maskPhones } from './phone.ts';

const NOT_RECORDED = 'The database can only be read, so the audit log does not have this read';

/** A read of merchants' or customers' data. */
export interface Read {
  /** Who reads, as the audit log names operators. */
  actor: string;
  /** Noun and verb, such as `payment.show`. */
  action: string;
  merchant_id: number | null;
  /** What was looked at, such as `payment 0712******678`. */
  subject: string;
  /** What was looked for. Phones in its texts are masked. */
  lookedFor: Record<string, unknown>;
  /** How many rows were found; null when it is not known. */
  rows: number | null;
}

/**
 * Writes into the audit log that somebody reads data. Call it before the data is shown.
 * @returns null, or a warning when the database can only be read: then data is needed most
 */
export async function recordRead(
  database: Database,
  { lookedFor, rows, ...read }: Read,
): Promise<string | null> {
  const given = Object.entries(lookedFor).map(([name, value]) => [name, masked(value)]);
  const details = { ...Object.fromEntries(given), rows };
  const entry = { ...read, reason: null, details };
  try {
    await inTransaction(database, (trx) => recordAudit(trx, entry));
    return null;
  } catch (error) {
    if (isReadOnlyError(error)) return NOT_RECORDED;
    throw error;
  }
}

function masked(value: unknown): unknown {
  return typeof value === 'string' ? maskPhones(value) : value;
}
