import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { isReadOnlyError } from '../../connections/database-errors.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { accountHash } from '../credentials/log-in-limit.ts';
import { recordSecurityEvent, type SecurityEvent } from '../security/security-events.ts';
import { StaffRefusal } from '../staff/require-staff.ts';
import { kenyanMobileIn, maskPhones } from '../text.ts';
import { presentOrigin } from './origin.ts';

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
    `INSERT INTO audit_log (id, actor, action, merchant_id, subject, reason, details, door, address,
       session, request)
     VALUES (:id, :actor, :action, :merchant_id, :subject, :reason, CAST(:details AS jsonb), :door,
       :address, :session, :request)`,
    { ...entry, ...presentOrigin(), id: uuidv7(), details: JSON.stringify(entry.details) },
  );
}

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
      if (audit) {
        const entry = { ...audit, ...operator };
        await recordAudit(trx, entry);
        if (OF_PAYMENT.test(entry.action)) await refuseTooManyLookUps(trx, entry);
      }
      for (const event of events) {
        await recordSecurityEvent(trx, { ...event, staff: operator.actor });
      }
      return value;
    });
}

const NOT_RECORDED = 'The database can only be read, so the audit log does not have this read';

/** A person looks up no more things than this within a minute. A program that copies the data does. */
export const MAX_LOOK_UPS_PER_MINUTE = 100;

/**
 * Stops somebody who searches or reveals too often, for a minute at most.
 * @throws StaffRefusal, whose security event the doors record
 */
async function refuseTooManyLookUps(trx: Transaction, { actor, action, details }: AuditEntry) {
  if (!LOOK_UP.test(action) && !details.payment && !details.error) return;
  const lately = await rows(
    trx,
    `SELECT FROM audit_log WHERE actor = :actor AND (action ~ :of_payment
         OR reason IS NULL AND (action ~ :look_up
           OR coalesce(details->>'payment', details->>'error') IS NOT NULL))
       AND happened_at > now() - interval '1 minute' LIMIT ${MAX_LOOK_UPS_PER_MINUTE + 1}`,
    { actor, look_up: LOOK_UP.source, of_payment: OF_PAYMENT.source },
  );
  if (lately.length <= MAX_LOOK_UPS_PER_MINUTE) return;
  throw new StaffRefusal(
    `You have looked up ${MAX_LOOK_UPS_PER_MINUTE} things within a minute: wait a minute`,
    { staff: actor, detail: { why: 'look-ups', action } },
  );
}

/**
 * A change that is refused or tried is a look-up too: the answer says what is there, and whose a receipt is. So is a
 * list for one payment, which names it by what somebody knows of it, or of jobs by their errors, which have phones.
 */
const LOOK_UP = /^payment\.|^jobs\.replay$|^discrepancy\.resolve$|\.reveal$/;

/** A change about a payment finds it by what somebody knows of it, and says whose it is. */
const OF_PAYMENT = /^payment\./;

/** A read of merchants' or customers' data. */
export interface Read {
  /** The reader, as the audit log names operators. */
  actor: string;
  /** Noun and verb, such as `payment.show`. */
  action: string;
  merchant_id: number | null;
  /** The thing that was read, such as `payment 0712******678`. */
  subject: string;
  /** The search terms. Phones in its texts are masked; a keyed hash tells whether two are the same. */
  lookedFor: Record<string, unknown>;
  /** The number of rows found; null when it is unknown. */
  rows: number | null;
}

/**
 * Writes into the audit log that somebody reads data. Call it before the data is shown.
 * @returns null, or a warning when the database can only be read: then data is needed most
 */
export async function recordRead(
  database: Database,
  keys: KeyRing,
  { lookedFor, rows, ...read }: Read,
): Promise<string | null> {
  const given = Object.entries(lookedFor).map(([name, value]) => [name, masked(value)]);
  const phone = Object.values(lookedFor).flatMap((value) => kenyanMobileIn(String(value)) ?? [])[0];
  const phone_hash = phone && accountHash(keys, phone);
  const details = { ...Object.fromEntries(given), ...(phone && { phone_hash }), rows };
  const entry = { ...read, reason: null, details };
  try {
    await inTransaction(database, async (trx) => {
      await recordAudit(trx, entry);
      await refuseTooManyLookUps(trx, entry);
    });
    return null;
  } catch (error) {
    if (isReadOnlyError(error)) return NOT_RECORDED;
    throw error;
  }
}

function masked(value: unknown): unknown {
  return typeof value === 'string' ? maskPhones(value) : value;
}

/** The result of a change to a row. */
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
