import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../connections/database.ts';

/** The changed thing. It must not contain a secret: the log is kept for ever and many read it. */
export interface AuditSubject {
  /** Null for a thing without a merchant, such as a channel. */
  merchant_id: number | null;
  /** The changed thing as its operator names it, such as `app 5001`. */
  subject: string;
  details: Record<string, unknown>;
}

export interface AuditEntry extends AuditSubject {
  actor: string;
  /** Noun and verb, such as `app.suspend`. */
  action: string;
  /** Null for a read, which changes nothing. */
  reason: string | null;
}

/** Records who changed what and why, or who read what. Call it in the transaction of the change. */
export async function recordAudit(trx: Transaction, entry: AuditEntry): Promise<void> {
  await rows(
    trx,
    `INSERT INTO audit_log (id, actor, action, merchant_id, subject, reason, details)
     VALUES (:id, :actor, :action, :merchant_id, :subject, :reason, CAST(:details AS jsonb))`,
    { ...entry, id: uuidv7(), details: JSON.stringify(entry.details) },
  );
}
