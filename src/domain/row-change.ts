import type { AuditedChange } from './audited-change.ts';
import type { SecurityEvent } from './security/security-events.ts';

/** What a change to a row has done. */
export interface RowChange<Row> {
  row: Row;
  merchant_id: number | null;
  /** The differences, for the audit log. Empty when the row was like that before. */
  changed: Record<string, unknown>;
  /** The security events of the change. */
  events?: readonly SecurityEvent[];
}

/** Tells whether a row is different now. */
export function isDifferent({ changed }: Pick<RowChange<unknown>, 'changed'>): boolean {
  return Object.keys(changed).length > 0;
}

/**
 * Returns a change with its line for the audit log. A row that was like that before has none.
 * @param subject is the row as its operator names it, such as `app 5001`
 */
export function auditedRow<Change extends RowChange<unknown>>(
  subject: string,
  value: Change,
): AuditedChange<Change> {
  const { merchant_id, changed: details, events } = value;
  const audit = isDifferent(value) ? { merchant_id, subject, details } : null;
  return { value, audit, events };
}

/** Returns what the audit log keeps of sessions that a change has ended. */
export function endedSessions(count: number): Record<string, number> {
  return count > 0 ? { revoked_token_families: count } : {};
}
