import { type Database, hasRow } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { auditedFor } from '../audit/audit.ts';
import { findStaff } from '../staff/require-staff.ts';
import { takeBackLogIn } from './log-in-limit.ts';
import { failedLogIn, requireFewFailures } from './log-in-staff.ts';
import { hashPassword } from './passwords.ts';
import { hashOf } from './staff-token.ts';

const WRONG = 'The e-mail address or the staff token is wrong, or the token has expired';

/** What a member gives to set a password for the console. */
export interface NewStaffPassword {
  email: string;
  /** The member's staff token, which proves who it is. */
  token: string;
  password: string;
}

/**
 * Sets the password with which a member logs in to the console, and ends all sessions of the
 * member. Wrong tokens are limited as failed log-ins are.
 * @param origin has the caller's address, and the network that failures are counted for
 * @throws StaffRefusal when address and token do not belong together, or after too many failures
 * @throws Refusal `unavailable` when too many passwords are being hashed
 */
export async function setStaffPassword(
  database: Database,
  keys: KeyRing,
  { email, token, password }: NewStaffPassword,
  origin: { ip: string | null; network: string | null },
): Promise<void> {
  const limit = await requireFewFailures(database, keys, email, origin.network);
  const member = await findStaff(database, token);
  if (member?.email !== email.toLowerCase()) throw failedLogIn(keys, email, WRONG);
  const password_hash = await hashPassword(password);
  const change = { action: 'staff.set-password', reason: 'The member set it at the console' };
  await auditedFor(database, { ...change, actor: member.email })(async (trx) => {
    // The token may have been replaced meanwhile.
    const isSet = await hasRow(
      trx,
      `UPDATE staff SET password_hash = :password_hash, session_no = session_no + 1
       WHERE id = :id AND active AND token_hash = :token_hash AND token_expires_at > now()
       RETURNING id`,
      { id: member.id, password_hash, token_hash: hashOf(token) },
    );
    if (!isSet) throw failedLogIn(keys, email, WRONG);
    const detail = { staff_id: member.id };
    const event = { kind: 'password_changed', ip: origin.ip, detail } as const;
    const audit = { merchant_id: null, subject: `staff member ${member.email}`, details: {} };
    return { value: null, audit, events: [event] };
  });
  await takeBackLogIn(database, limit);
}
