import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../connections/database.ts';

/** What was changed. Never with a secret in it: the log is kept for ever and read by many. */
export interface AuditSubject {
  /** Null for what belongs to no merchant, such as a channel. */
  merchant_id: number | null;
  /** The changed thing as its operator names it, such as `app 5001`. */
  subject: string;
  details: Record<string, unknown>;
}

export interface AuditEntry extends AuditSubject {
  actor: string;
  /** Noun and verb, such as `app.suspend`. */
  action: string;
  reason: string;
}

/** Writes down who changed what and why; belongs in the transaction of the change. */
export async function recordAudit(trx: Transaction, entry: AuditEntry): Promise<void> {
  await rows(
    trx,
    `INSERT INTO audit_log (id, actor, action, merchant_id, subject, reason, details)
     VALUES (:id, :actor, :action, :merchant_id, :subject, :reason, CAST(:details AS jsonb))`,
    {
      id: uuidv7(),
      actor: entry.actor,
      action: entry.action,
      merchant_id: entry.merchant_id,
      subject: entry.subject,
      reason: entry.reason,
      details: JSON.stringify(entry.details),
    },
  );
}
