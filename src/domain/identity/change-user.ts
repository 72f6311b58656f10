import type { Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { type AuditedChange, endedSessions, type RowChange } from '../audit/audit.ts';
import { accountHashes } from '../security/account-hash.ts';
import { changeEvents, revocationEvents } from '../security/change-events.ts';
import { forgetFailures } from '../security/log-in-limit.ts';
import {
  addUser,
  type NewUser,
  resetTotpOf,
  type UserChanges,
  type UserName,
  type UserRecord,
  updateUser,
} from './manage-users.ts';

/**
 * Creates a user for an operator, with the line for the audit log.
 * @throws OperatorRefusal when there is no such merchant, or the e-mail address is taken.
 */
export async function registerUser(
  trx: Transaction,
  merchant_id: number,
  user: NewUser,
): Promise<AuditedChange<UserRecord>> {
  const value = await addUser(trx, merchant_id, user);
  const { email, name, role, must_change_password } = value;
  const details = {
    email,
    ...(name !== null && { name }),
    role,
    ...(must_change_password && { must_change_password }),
  };
  return { value, audit: { merchant_id, subject: `user ${email}`, details } };
}

export interface UserChange extends RowChange<UserRecord> {
  /** The number of sessions that were ended. */
  revoked: number;
}

/**
 * Changes a user for an operator. A new role, a new password or a deactivation ends the sessions.
 * @param forgetWith are the keys under which failed log-ins are counted, to forget those of the user
 * @throws OperatorRefusal when there is no such user.
 */
export async function changeUser(
  trx: Transaction,
  name: UserName,
  wanted: UserChanges,
  forgetWith?: KeyRing,
): Promise<UserChange> {
  const { user, changed, revoked } = await updateUser(trx, name, wanted);
  const replaced = wanted.password_hash && { password: 'replaced' };
  const hashes = forgetWith ? accountHashes(forgetWith, user.email) : [];
  const forgotten = (await forgetFailures(trx, hashes)) && { failed_log_ins: 'forgotten' };
  const subject = { merchant_id: user.merchant_id, user_id: user.id };
  return {
    ...{ row: user, merchant_id: user.merchant_id, revoked },
    changed: { ...changed, ...replaced, ...forgotten, ...endedSessions(revoked) },
    events: [
      ...changeEvents(subject, changed, 'user_deactivated'),
      ...revocationEvents(subject, revoked),
      ...(replaced ? [{ ...subject, kind: 'password_changed' } as const] : []),
      ...(forgotten ? [{ ...subject, kind: 'log_in_limit_lifted' } as const] : []),
    ],
  };
}

/**
 * Switches one-time passwords off for a user who has lost them, and ends the sessions.
 * @throws OperatorRefusal when there is no such user.
 */
export async function resetUserTotp(trx: Transaction, name: UserName): Promise<UserChange> {
  const { user, changed, revoked } = await resetTotpOf(trx, name);
  const { merchant_id, id: user_id } = user;
  const subject = { merchant_id, user_id };
  return {
    ...{ row: user, merchant_id, revoked },
    changed: { ...changed, ...endedSessions(revoked) },
    events: [
      ...(changed.totp ? [{ ...subject, kind: 'totp_reset' } as const] : []),
      ...revocationEvents(subject, revoked),
    ],
  };
}
