import { type Database, inTransaction, type Transaction } from '../connections/database.ts';
import { type AuditEntry, type AuditSubject, recordAudit } from './audit.ts';
import { recordSecurityEvent, type SecurityEvent } from './security/security-events.ts';

/** A change, with what the audit log keeps of it. */
export interface AuditedChange<Value> {
  value: Value;
  /** Null when there was nothing to change. */
  audit: AuditSubject | null;
  /** The security events of the change. The operator's name is added to each. */
  events?: readonly SecurityEvent[] | undefined;
}

/**
 * Makes a change with its line in the audit log and its security events, in one transaction.
 * `work` may run again.
 */
export type Audited = <Value>(
  work: (trx: Transaction) => Promise<AuditedChange<Value>>,
) => Promise<Value>;

/**
 * Makes changes in the name of an operator.
 * @param authorize is called in each transaction. It throws when the operator may not any more.
 */
export function auditedFor(
  database: Database,
  operator: Pick<AuditEntry, 'actor' | 'action' | 'reason'>,
  authorize: (trx: Transaction) => Promise<unknown> = async () => {},
): Audited {
  return (work) =>
    inTransaction(database, async (trx) => {
      await authorize(trx);
      const { value, audit, events = [] } = await work(trx);
      if (audit) await recordAudit(trx, { ...audit, ...operator });
      for (const event of events) {
        await recordSecurityEvent(trx, { ...event, staff: operator.actor });
      }
      return value;
    });
}
