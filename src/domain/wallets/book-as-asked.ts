import type { Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import { type BookedEntry, bookAuditedEntry, type OperatorEntry } from './operator-entries.ts';

/** An entry as it waits for a second person. The entry takes the reason of the request. */
export type AskedEntry = Omit<OperatorEntry, 'reason'>;

/**
 * Books the top-up or the adjustment that a second person has approved.
 * @throws OperatorRefusal when it cannot be booked any more, or its reference is booked already
 */
export async function bookAsAsked(
  trx: Transaction,
  entry: AskedEntry,
  { reason }: { reason: string },
): Promise<AuditedChange<{ booked: BookedEntry; repeated: boolean }>> {
  const change = await bookAuditedEntry(trx, { ...entry, reason });
  if (!change.value.repeated) return change;
  throw new OperatorRefusal(`Reference ${entry.reference} was booked before`);
}
