import { type Database, inTransaction, type Transaction } from '../connections/database.ts';
import { type AuditEntry, type AuditSubject, recordAudit } from './audit.ts';

/** A change, with what the audit log keeps of it. */
export interface AuditedChange<Value> {
  value: Value;
  /** Null when there was nothing to change. */
  audit: AuditSubject | null;
}

/** Makes a change and its line in the audit log, in one transaction. `work` may run again. */
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
      const { value, audit } = await work(trx);
      if (audit) await recordAudit(trx, { ...audit, ...operator });
      return value;
    });
}
